import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAsked, useFocus, usePush, useCommonState } from "../shared/hooks.ts";
import { Notice, WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { Tabs } from "../shared/tabs.tsx";
import { pageLabel } from "../shared/label.ts";
import { keptOf, tabs, type Kept, type Tab } from "./kept.ts";
import { Knowledge } from "./knowledge.tsx";
import type { MemoryContract, Shared } from "./messages.ts";
import { Timeline } from "./timeline.tsx";
import type { TabProps } from "./tab-props.ts";
import { WitnessPage } from "./witness.tsx";
import { Working } from "./working.tsx";

const labels: Record<Tab, string> = {
  timeline: "Timeline",
  knowledge: "Knowledge",
  working: "Working",
  witness: "Witness",
};

/** The memories of agents. */
export function MemoryView({ host, editor }: PageProps<MemoryContract>): VNode {
  const commonState = useCommonState(host);
  const [kept, setKept] = useState(() => keptOf(editor.kept));
  const keep = (changes: Partial<Kept>): void => setKept((before) => ({ ...before, ...changes }));
  useEffect(() => editor.keep(kept), [editor, kept]);
  const choose = (agent: string): void =>
    keep({ agent, namespace: "", variant: "", days: undefined, itemVariant: "" });
  useFocus(host, choose);

  const agents = commonState?.agents ?? [];
  const agent = (agents.find(({ id }) => id === kept.agent) ?? agents[0])?.id;
  const shared = useAsked(host, "shared", agent === undefined ? null : { agent });
  // Documents that change shared memories take effect before the agents are announced.
  usePush(host, "commonState", shared.again);
  const names = shared.asked.kind === "ready" ? shared.asked.value.shared : [];
  const chosen = names.find(({ name }) => name === kept.namespace);
  // Until it is known whether the shared memory still exists, its requests must not go to the agent's own memory.
  const isSettled = kept.namespace === "" || shared.asked.kind !== "loading";
  return (
    <WhileRunning host={host} commonState={commonState}>
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
              {agents.map(({ id, name }) => (
                <option key={id} value={id}>
                  {pageLabel(name, 60)}
                </option>
              ))}
            </select>
            {names.length > 0 && (
              <SharedMemory
                shared={names}
                chosen={chosen?.name ?? ""}
                onChoose={(namespace) => keep({ namespace, variant: "", days: undefined, itemVariant: "" })}
              />
            )}
          </div>
          <Tabs
            label="Kinds of memory"
            tabs={tabs.map((name) => ({ name, label: labels[name] }))}
            chosen={kept.tab}
            onChoose={(tab) => keep({ tab })}
          >
            {isSettled ? (
              <Watched
                key={`${agent} ${chosen?.name ?? ""}`}
                tab={kept.tab}
                host={host}
                kept={kept}
                keep={keep}
                whose={{ agent, ...(chosen !== undefined && { namespace: chosen.name }) }}
                workspace={chosen?.workspace}
              />
            ) : (
              <Notice kind="busy" title="Loading…" />
            )}
          </Tabs>
        </div>
      )}
    </WhileRunning>
  );
}

interface SharedProps {
  readonly shared: readonly Shared[];
  readonly chosen: string;
  onChoose(name: string): void;
}

/** Selects the agent's own memory, or one of the shared ones. */
function SharedMemory({ shared, chosen, onChoose }: SharedProps): VNode {
  return (
    <select
      aria-label="Which memory"
      title="The agent's own, or one that lares.yaml names under shared_namespaces or import_namespaces"
      value={chosen}
      onChange={({ currentTarget: { value } }) => onChoose(value)}
    >
      <option value="">Own memory</option>
      {shared.map(({ name, writable, workspace }) => (
        <option key={name} value={name}>
          {pageLabel(name, 60)} (
          {workspace === undefined ? (writable ? "shared" : "shared, read only") : "imported"})
        </option>
      ))}
    </select>
  );
}

type TabPageProps = TabProps & { readonly tab: Tab };

/** Asks the extension to report changes of the memory that is shown. */
function Watched(props: TabPageProps): VNode {
  const { host, whose } = props;
  const { agent, namespace } = whose;
  useEffect(() => {
    // An error means that the extension is shutting down together with the page.
    host.ask("watch", whose).catch(() => undefined);
  }, [host, agent, namespace]);
  return <TabPage {...props} />;
}

function TabPage({ tab, ...props }: TabPageProps): VNode {
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
