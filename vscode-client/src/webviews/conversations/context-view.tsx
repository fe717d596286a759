import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { count, counted } from "../shared/format.ts";
import { useAsked } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { Pending } from "../shared/notice.tsx";
import { line, whole } from "../shared/text.ts";
import { IconButton } from "./icon.tsx";
import { Fold } from "./items.tsx";
import type { ConversationsContract } from "./messages.ts";

const names: Readonly<Record<string, string>> = {
  identity: "Who the agent is",
  role: "What the process is for",
  tools: "Tools and skills",
  blocks: "Blocks",
  bulletin: "Bulletin",
  summaries: "Summaries",
  history: "What was said",
  suffix: "How things stand",
};

interface ContextProps {
  readonly host: Host<ConversationsContract>;
  readonly id: string;
  readonly process: string | undefined;
  readonly onClose: () => void;
}

/** The context that a request would send now, by section, with each section's share of the window. */
export function ContextView({ host, id, process, onClose }: ContextProps): VNode {
  const { asked, again } = useAsked(host, "context", { id, ...(process === undefined ? {} : { process }) });
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <main
      class="conversations context"
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <header class="conversation-head">
        <div class="row">
          <IconButton name="back" label="Back to the conversation" onPress={onClose} />
          <h1 ref={heading} class="grow" tabIndex={-1}>
            What the model sees
          </h1>
        </div>
      </header>
      {asked.kind === "ready" ? <Sections {...asked.value} /> : <Pending asked={asked} again={again} />}
    </main>
  );
}

interface SectionsProps {
  readonly sections: readonly {
    readonly name: string;
    readonly tokens: number;
    readonly text: string;
    readonly isCached: boolean;
    readonly isCut: boolean;
  }[];
  readonly model: string;
  /** The size of the whole, as the conversation shows it; those of the sections are estimates. */
  readonly tokens: number;
  readonly limit: number;
}

function Sections({ sections, model, tokens: all, limit }: SectionsProps): VNode {
  const used = sections.reduce((sum, { tokens }) => sum + tokens, 0);
  const width = Math.max(used, limit, 1);
  return (
    <div class="sections">
      <p>
        {limit > 0 ? `${count(all)} of ${counted(limit, "token")}` : counted(all, "token")}
        <span class="dot">
          <bdi>{line(model, 120)}</bdi>
        </span>
      </p>
      <svg class="bar" viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">
        {sections.map(({ name, tokens }, index) => {
          const before = sections.slice(0, index).reduce((sum, section) => sum + section.tokens, 0);
          return (
            <rect
              key={name}
              class={`part-${index % 8}`}
              x={(1000 * before) / width}
              y="0"
              width={(1000 * tokens) / width}
              height="12"
            />
          );
        })}
      </svg>
      {sections.map(({ name, tokens, text, isCached, isCut }, index) => (
        <Fold
          key={name}
          kind="section"
          icon={
            <svg class="key" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
              <rect class={`part-${index % 8}`} width="10" height="10" />
            </svg>
          }
          words={names[name] ?? line(name, 64)}
          side={<span class="muted small">{counted(tokens, "token")}</span>}
        >
          {() => (
            <>
              <pre class="plain" tabIndex={0}>
                {text === "" ? "(empty)" : whole(text)}
              </pre>
              {isCached && (
                <p class="muted small">The provider may have it already, and then charges less for it.</p>
              )}
              {isCut && <p class="muted small">It is longer than what is shown here.</p>}
            </>
          )}
        </Fold>
      ))}
    </div>
  );
}
