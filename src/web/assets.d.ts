/** Style sheets as text; the build of the pages resolves them. */
declare module '*.css?inline' {
  const text: string;
  export default text;
}
