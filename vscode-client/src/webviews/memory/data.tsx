import type { VNode } from "preact";
import { JsonTree } from "../shared/json-tree.tsx";
import { block } from "../shared/text.ts";

/** Shows remembered data. If it was cut, shows the beginning of its JSON and says so. */
export function Data({ data, cut = false }: { readonly data: unknown; readonly cut?: boolean }): VNode {
  if (!cut) return <JsonTree value={data} open={2} />;
  return (
    <>
      <p class="quiet">This is large; its beginning is shown.</p>
      <pre class="json">{block(String(data))}</pre>
    </>
  );
}
