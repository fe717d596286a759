import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useAgentName } from "../shared/agent-name.tsx";
import { count } from "../shared/format.ts";
import { pageLabel } from "../shared/label.ts";
import { line } from "../shared/text.ts";
import { Icon, IconButton, Sign } from "./icon.tsx";
import type { Head } from "./messages.ts";
import { isAtWork, nameOf, signOf } from "./words.ts";

interface HeadActs {
  back(): void;
  showContext(): void;
  rename(title: string): void;
  fork(): void;
  compact(): void;
  archive(isArchived: boolean): void;
  remove(): void;
  openInEditor(): void;
  goToWaiting(): void;
  showProcess(id: string): void;
}

interface HeadProps {
  readonly head: Head;
  /** How many proposals and questions wait, as far as the page knows. */
  readonly waiting: number;
  /** The process whose transcript is shown. */
  readonly shown: string;
  readonly acts: HeadActs;
}

type Open = "menu" | "rename" | "sources" | null;

/** Title, what waits and what works, and what can be done with the conversation. */
export function ConversationHead({ head, waiting, shown, acts }: HeadProps): VNode {
  const [open, setOpen] = useState<Open>(null);
  const agent = useAgentName()(head.agent);
  const toggle = (which: Exclude<Open, null>) => (): void => setOpen(open === which ? null : which);
  const working = head.processes.filter(isAtWork).length;
  const waits = Math.max(waiting, head.waiting);
  const item = (words: string, act: () => void): VNode => (
    <button
      type="button"
      class="button plain"
      onClick={() => {
        setOpen(null);
        act();
      }}
    >
      {words}
    </button>
  );
  return (
    <header
      class="conversation-head"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || open === null) return;
        event.stopPropagation();
        setOpen(null);
      }}
    >
      <div class="row">
        <IconButton name="back" label="All conversations" onPress={acts.back} />
        <h1 class="grow">
          <bdi>{head.title === "" ? "New conversation" : pageLabel(head.title, 200)}</bdi>
        </h1>
        <IconButton name="eye" label="What the model sees" onPress={acts.showContext} />
        <IconButton
          name="more"
          label="More"
          isOpen={open === "menu" || open === "rename"}
          onPress={toggle("menu")}
        />
      </div>
      <div class="row signs">
        <span class="muted">
          <bdi>{agent}</bdi>
        </span>
        {(waits > 0 || head.activity === "waiting") && (
          <button type="button" class="sign-button" onClick={acts.goToWaiting}>
            <Sign kind="waiting">
              {waits === 0 ? "Waiting for you" : `${count(waits)} ${waits === 1 ? "waits" : "wait"} for you`}
            </Sign>
          </button>
        )}
        {working > 0 && <Sign kind="working">{`${count(working)} working`}</Sign>}
        {head.tainted.length > 0 && (
          <button type="button" class="taint" aria-expanded={open === "sources"} onClick={toggle("sources")}>
            <Icon name="shield" />
            Foreign text
            <Icon name="down" />
          </button>
        )}
        {head.isArchived && <span class="muted small">Archived</span>}
      </div>
      {open === "sources" && (
        <div class="head-panel">
          <p>This conversation has read text that neither you nor its model wrote:</p>
          <ul>
            {head.tainted.map((source) => (
              <li key={source}>
                <bdi>{pageLabel(source, 500)}</bdi>
              </li>
            ))}
          </ul>
          <p class="muted small">
            So every change is asked, nothing is allowed for always, and every address is asked before text
            goes there. Fork from a message before it was read to go on without it.
          </p>
        </div>
      )}
      {open === "menu" && (
        <div class="head-panel menu" role="group" aria-label="More">
          {item("Rename…", () => setOpen("rename"))}
          {item("Fork from the last message", acts.fork)}
          {item("Summarise earlier turns", acts.compact)}
          {item("Open in an editor", acts.openInEditor)}
          {item(head.isArchived ? "Take out of the archive" : "Archive", () =>
            acts.archive(!head.isArchived),
          )}
          {item("Delete…", acts.remove)}
        </div>
      )}
      {open === "rename" && (
        <form
          class="head-panel row"
          onSubmit={(event) => {
            event.preventDefault();
            const title = new FormData(event.currentTarget).get("title");
            if (typeof title === "string" && title.trim() !== "") acts.rename(title.trim());
            setOpen(null);
          }}
        >
          <input
            ref={(input) => input?.focus()}
            class="grow"
            name="title"
            aria-label="Title"
            maxLength={256}
            defaultValue={head.title}
          />
          <button type="submit" class="button primary">
            Rename
          </button>
        </form>
      )}
      <Processes head={head} shown={shown} onShow={acts.showProcess} />
    </header>
  );
}

/** The number of chips of processes that have ended. */
const maxEnded = 6;

/** Branches and workers in a row, each of which opens its own transcript. */
function Processes({
  head,
  shown,
  onShow,
}: {
  readonly head: Head;
  readonly shown: string;
  readonly onShow: (id: string) => void;
}): VNode | null {
  const channel = head.processes.find(({ kind }) => kind === "channel");
  const others = head.processes.filter(({ kind }) => kind === "branch" || kind === "worker");
  if (others.length === 0 || channel === undefined) return null;
  const ended = others.filter(
    ({ state }) =>
      signOf({ state } as (typeof others)[number]).kind === "quiet" ||
      state === "Failed" ||
      state === "Cancelled",
  );
  const kept = new Set(ended.slice(-maxEnded).map(({ id }) => id));
  const drawn = others.filter(
    (process) => !ended.includes(process) || kept.has(process.id) || process.id === shown,
  );
  return (
    <nav class="processes" aria-label="Branches and workers">
      <button
        type="button"
        class="chip"
        aria-pressed={shown === channel.id}
        onClick={() => onShow(channel.id)}
      >
        Conversation
      </button>
      {drawn.map((process) => {
        const sign = signOf(process);
        return (
          <button
            key={process.id}
            type="button"
            class={`chip ${sign.kind}`}
            aria-pressed={shown === process.id}
            aria-label={`${line(nameOf(process), 120)}: ${sign.words}`}
            onClick={() => onShow(process.id)}
          >
            {sign.kind === "working" ? (
              <span class="spinner" aria-hidden="true" />
            ) : (
              <Icon name={sign.kind === "waiting" ? "bell" : sign.kind === "failed" ? "failed" : "check"} />
            )}
            <bdi>{line(nameOf(process), 40)}</bdi>
          </button>
        );
      })}
    </nav>
  );
}
