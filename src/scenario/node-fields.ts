/** Fields of a map whose shape was checked; null if the key is absent. */
import type { ListNode, MapNode, SourceNode } from './source-node.ts';

export function fieldOf(map: MapNode | null, key: string): SourceNode | null {
  return map?.entries.get(key)?.value ?? null;
}

export function mapOf(map: MapNode | null, key: string): MapNode | null {
  const node = fieldOf(map, key);
  return node?.kind === 'map' ? node : null;
}

/** Source text of a scalar. */
export function textOf(map: MapNode | null, key: string): string | null {
  const node = fieldOf(map, key);
  return node?.kind === 'scalar' ? node.text : null;
}

/** A whole number within the bounds of the shape. */
export function numberOf(map: MapNode | null, key: string): number | null {
  const text = textOf(map, key);
  return text === null ? null : Number(text);
}

export function listOf(map: MapNode | null, key: string): ListNode | null {
  const node = fieldOf(map, key);
  return node?.kind === 'list' ? node : null;
}

/** Texts of a list's scalars. */
export function listItems(map: MapNode | null, key: string): string[] {
  return (listOf(map, key)?.items ?? []).flatMap((item) =>
    item.kind === 'scalar' ? [item.text] : [],
  );
}

export const isEmptyMap = (node: SourceNode): boolean =>
  node.kind === 'map' && node.entries.size === 0;
