/** Draws a diagram in the browser, in the colours of the page; its source shows until then. */
import { useData } from 'vitepress';
import { defineComponent, h, onMounted, ref, watch } from 'vue';

let drawn = 0;

export const MermaidDiagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData();
    const source = decodeURIComponent(props.code);
    const svg = ref('');
    async function draw() {
      const { default: mermaid } = await import('mermaid');
      const theme = isDark.value ? 'dark' : 'neutral';
      mermaid.initialize({ startOnLoad: false, theme });
      drawn += 1;
      svg.value = (await mermaid.render(`diagram-${drawn}`, source)).svg;
    }
    onMounted(draw);
    watch(isDark, draw);
    return () =>
      svg.value === ''
        ? h('pre', source)
        : h('div', { style: { overflowX: 'auto' } }, [
            h('div', { style: { minWidth: '800px' }, innerHTML: svg.value }),
          ]);
  },
});
