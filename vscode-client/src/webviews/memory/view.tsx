import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useFocus, useSituation } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { Notice, WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { Tabs } from "../shared/tabs.tsx";
import { line } from "../shared/text.ts";
import { keptOf, tabs, type Kept, type Tab } from "./kept.ts";
import { Knowledge } from "./knowledge.tsx";
import type { MemoryContract } from "./messages.ts";
import { Timeline } from "./timeline.tsx";
import { WitnessPage } from "./witness.tsx";
import { Working } from "./working.tsx";

/** What a tab of the view is given. */
export interface TabProps {
  readonly host: Host<MemoryContract>;
  readonly kept: Kept;
  keep(changes: Partial<Kept>): void;
  /** Whose memory, as requests name it. */
  readonly whose: { readonly agent: string; readonly namespace?: string };
}

const labels: Record<Tab, string> = {
  timeline: "Timeline",
  knowledge: "Knowledge",
  working: "Working",
  witness: "Witness",
};

/** What agents remember. */
export function MemoryView({ host, editor }: PageProps<MemoryContract>): VNode {
  const situation = useSituation(host);
  const [kept, setKept] = useState(() => keptOf(editor.kept));
  const keep = (changes: Partial<Kept>): void => setKept((before) => ({ ...before, ...changes }));
  useEffect(() => editor.keep(kept), [editor, kept]);
  const choose = (agent: string): void =>
    keep({ agent, namespace: "", variant: "", days: undefined, itemVariant: "" });
  useFocus(host, choose);

  const agents = situation?.agents.map(({ id }) => id) ?? [];
  const agent = kept.agent !== undefined && agents.includes(kept.agent) ? kept.agent : agents[0];
  return (
    <WhileRunning host={host} situation={situation}>
      {agent === undefined ? (
        <Notice title="No agents yet.">
          <p class="quiet">What they remember is shown here once lares.yaml names an extension.</p>
        </Notice>
      ) : (
        <div class="memory">
          <div class="whose">
            <select
              aria-label="Agent"
              value={agent}
              onChange={({ currentTarget: { value } }) => choose(value)}
            >
              {agents.map((id) => (
                <option key={id} value={id}>
                  {line(id, 60)}
                </option>
              ))}
            </select>
            <SharedMemory namespace={kept.namespace} onChoose={(namespace) => keep({ namespace })} />
          </div>
          <Tabs
            label="Kinds of memory"
            tabs={tabs.map((name) => ({ name, label: labels[name] }))}
            chosen={kept.tab}
            onChoose={(tab) => keep({ tab })}
          >
            <TabPage
              key={`${agent} ${kept.namespace}`}
              tab={kept.tab}
              host={host}
              kept={kept}
              keep={keep}
              whose={{ agent, ...(kept.namespace !== "" && { namespace: kept.namespace }) }}
            />
          </Tabs>
        </div>
      )}
    </WhileRunning>
  );
}

interface SharedProps {
  readonly namespace: string;
  onChoose(namespace: string): void;
}

/** Most agents have a memory of their own only: the name of a shared one is asked for where it is wanted. */
function SharedMemory({ namespace, onChoose }: SharedProps): VNode {
  const [open, setOpen] = useState(namespace !== "");
  const close = (): void => {
    onChoose("");
    setOpen(false);
  };
  if (!open)
    return (
      <button
        type="button"
        class="link"
        title="Look into a shared memory that this agent may read"
        onClick={() => setOpen(true)}
      >
        Shared…
      </button>
    );
  return (
    <>
      <input
        aria-label="The shared memory's name"
        title="As lares.yaml names it under shared_namespaces"
        placeholder="Shared memory's name"
        maxLength={128}
        value={namespace}
        onChange={({ currentTarget: { value } }) => onChoose(value.trim())}
      />
      <button type="button" class="link" onClick={close}>
        Own
      </button>
    </>
  );
}

function TabPage({ tab, ...props }: TabProps & { readonly tab: Tab }): VNode {
  switch (tab) {
    case "timeline":
      return <Timeline {...props} />;
    case "knowledge":
      return <Knowledge {...props} />;
    case "working":
      return <Working {...props} />;
    case "witness":
      return <WitnessPage {...props} />;
  }
}
