/** Draws a diagram in the browser, in the colours of the page; its source shows until then. */
import { useData } from 'vitepress';
import { defineComponent, h, onMounted, ref, watch } from 'vue';

let drawn = 0;

/** Width in px at which the text of a diagram, 16 px at its own width, has 11 px. */
function readableWidth(svg) {
  const [, width] = /viewBox="\S+ \S+ (\S+)/.exec(svg);
  return Math.ceil((Number(width) * 11) / 16);
}

export const MermaidDiagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData();
    const source = decodeURIComponent(props.code);
    const svg = ref('');
    async function draw() {
      const { default: mermaid } = await import('mermaid');
      const theme = isDark.value ? 'dark' : 'neutral';
      // Labels of arrows have a contrast of 4.4 in the dark theme by default.
      const themeVariables = isDark.value ? { edgeLabelBackground: '#1b1b1f' } : {};
      mermaid.initialize({ startOnLoad: false, theme, themeVariables });
      drawn += 1;
      svg.value = (await mermaid.render(`diagram-${drawn}`, source)).svg;
    }
    onMounted(draw);
    watch(isDark, draw);
    return () =>
      svg.value === ''
        ? h('pre', { style: { overflowX: 'auto' } }, source)
        : h('div', { class: 'diagram', tabindex: 0, role: 'region', 'aria-label': 'Diagram' }, [
            h('div', {
              style: { minWidth: `${readableWidth(svg.value)}px` },
              innerHTML: svg.value,
            }),
          ]);
  },
});
