import type { VNode } from "preact";
import { useAsked, useChanged } from "../shared/hooks.ts";
import { Pending } from "../shared/notice.tsx";
import { Data } from "./data.tsx";
import type { TabProps } from "./tab-props.ts";

/** The working memory of the agent. */
export function Working({ host, whose }: TabProps): VNode {
  const { asked, again } = useAsked(host, "working", whose);
  useChanged(host, asked, again);
  if (asked.kind !== "ready") return <Pending asked={asked} again={again} />;
  const { revision, state, cut = false } = asked.value;
  return (
    <section class="working" aria-label="Working memory">
      <p class="quiet count">{revision === 0 ? "Never written" : `Revision ${revision}`}</p>
      {revision === 0 ? (
        <p class="quiet">The agent keeps nothing in mind.</p>
      ) : (
        <Data data={state} cut={cut} />
      )}
    </section>
  );
}
