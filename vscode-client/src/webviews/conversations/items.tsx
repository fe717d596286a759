import { cutWords } from "../../../../kernel/src/base/cut-answer.ts";
import { leftUnread, stoppedHere, unfinished } from "../../../../kernel/src/base/turn-ends.ts";
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { pageLabel } from "../shared/label.ts";
import { size } from "../shared/size.ts";
import { Time } from "../shared/time.tsx";
import { line, whole } from "../shared/text.ts";
import type { ShownPart, ShownProcess } from "./entries.ts";
import { Icon, IconButton, Sign } from "./icon.tsx";
import { Markdown, type MarkdownActs } from "./markdown.tsx";
import type { Streamed } from "./transcript.ts";
import type { Item, ItemOf } from "./turns.ts";
import { adviceFor, durationWords, fileWords, kindOf, nameOf, pictureWords, signOf } from "./words.ts";

/** The actions of a transcript's items. The same object for the lifetime of the page. */
export interface ItemActs extends MarkdownActs {
  fork(seq: number): void;
  pin(entry: string, isPinned: boolean): void;
  why(entry: string): void;
  redact(entry: string, text: string): void;
  showWhole(seq: number): void;
  openPath(path: string): void;
  showProcess(id: string): void;
}

interface ItemProps<Of extends Item> {
  readonly item: Of;
  readonly acts: ItemActs;
}

/** Opens what is folded, below the line that says what it is. */
export function Fold({
  icon,
  words,
  side,
  kind = "",
  isOpenFirst = false,
  children,
}: {
  readonly icon: VNode;
  readonly words: ComponentChildren;
  readonly side?: ComponentChildren;
  readonly kind?: string;
  readonly isOpenFirst?: boolean;
  readonly children: () => ComponentChildren;
}): VNode {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return (
    <div class={`fold ${kind}`}>
      <button type="button" class="fold-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "down" : "right"} />
        {icon}
        <span class="grow">{words}</span>
        {side}
      </button>
      {isOpen && <div class="fold-body">{children()}</div>}
    </div>
  );
}

/** Says where a text comes from that neither the person nor the model wrote. */
function Sources({ sources }: { readonly sources: readonly string[] | undefined }): VNode | null {
  if (sources === undefined || sources.length === 0) return null;
  return (
    <p class="foreign-note">
      <Icon name="shield" />
      <span>From foreign text: {sources.map((source) => pageLabel(source, 300)).join(", ")}</span>
    </p>
  );
}

/** Opens a text in an editor that is longer than what is shown. */
function Whole({ seq, acts }: { readonly seq: number; readonly acts: ItemActs }): VNode {
  return (
    <p>
      <button type="button" class="button small" onClick={() => acts.showWhole(seq)}>
        Open all of it
      </button>
    </p>
  );
}

interface MessageProps<Kind extends "you" | "answer"> extends ItemProps<ItemOf<Kind>> {
  readonly isPinned: boolean;
}

function MessageButtons({ item, isPinned, acts }: MessageProps<"you" | "answer">): VNode {
  return (
    <span class="message-buttons">
      <IconButton
        name="pin"
        label={isPinned ? "Unpin" : "Pin: keep it in the context"}
        isPressed={isPinned}
        onPress={() => acts.pin(item.id, !isPinned)}
      />
      <IconButton name="fork" label="Fork from here" onPress={() => acts.fork(item.seq)} />
      {item.kind === "answer" && (
        <IconButton
          name="why"
          label="Why? Memories and blocks that this answer rests on"
          onPress={() => acts.why(item.id)}
        />
      )}
      <IconButton
        name="trash"
        label="Remove from the transcript…"
        onPress={() => acts.redact(item.id, textsOf(item.parts))}
      />
    </span>
  );
}

function textsOf(parts: ItemOf<"you" | "answer">["parts"]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Returns who wrote a message that a person did not write. */
function senderOf(origin: string): string {
  if (origin === "model") return "The conversation";
  return origin === "kernel" || origin === "decision" ? "Lares" : line(origin, 80);
}

/** Returns who wrote a message of the person's side, and which extensions changed it. */
function writerOf({ from, changedBy }: Pick<ItemOf<"you">, "from" | "changedBy">): string {
  // Only messages of the person are changed.
  if (changedBy.length > 0) return `You, changed by ${changedBy.map((id) => line(id, 80)).join(", ")}`;
  return from === "person" ? "You" : senderOf(from);
}

export function You({ item, isPinned, acts }: MessageProps<"you">): VNode {
  const writer = writerOf(item);
  return (
    <section class="you" aria-label={writer}>
      <MessageButtons item={item} isPinned={isPinned} acts={acts} />
      <div class="bubble">
        {writer !== "You" && <p class="meta">{writer}</p>}
        <Plain parts={item.parts} acts={acts} />
        <Sources sources={item.newSources} />
        {item.isCut && <Whole seq={item.seq} acts={acts} />}
      </div>
    </section>
  );
}

/** A person's text, as it was typed. */
function Plain({ parts, acts }: { readonly parts: readonly ShownPart[]; readonly acts: ItemActs }): VNode {
  return (
    <>
      {parts.map((part, index) =>
        part.type === "file" ? (
          <button key={index} type="button" class="chip" onClick={() => acts.openPath(part.path)}>
            <Icon name="file" />
            <bdi>{pageLabel(fileWords(part.path, part.range), 300)}</bdi>
          </button>
        ) : part.type === "image" ? (
          <span key={index} class="chip">
            <Icon name="picture" />
            {pictureWords(part.mediaType)}, {size(part.bytes)}
          </span>
        ) : (
          <p key={index} class="typed">
            {whole(part.text)}
          </p>
        ),
      )}
    </>
  );
}

export function Answer({
  item,
  isPinned,
  acts,
  agent,
}: MessageProps<"answer"> & { readonly agent: string }): VNode {
  const { parts, isStreaming, isPartial, isCalling } = item;
  return (
    <section class="answer" aria-label={agent} aria-busy={isStreaming}>
      <p class="who">
        <bdi>{agent}</bdi>{" "}
        {item.created !== "" && <Time iso={item.created} without="seconds" class="muted small" />}
        {isStreaming && <Sign kind="working">{isCalling ? "Calling a tool" : "Answering"}</Sign>}
        <span class="grow" />
        {!isStreaming && <MessageButtons item={item} isPinned={isPinned} acts={acts} />}
      </p>
      {item.leftOut > 0 && <p class="muted small">Its beginning is shown again once it is written.</p>}
      {parts.map((part, index) => (
        <AnswerPart key={index} part={part} acts={acts} isLast={isStreaming && index === parts.length - 1} />
      ))}
      {item.ending !== undefined && (
        <p class="muted small">
          <Icon name="bell" /> {cutWords(item.ending)}
        </p>
      )}
      {isPartial && !isStreaming && <p class="muted small">{unfinished}</p>}
      {item.isCut && <Whole seq={item.seq} acts={acts} />}
      <Sources sources={item.newSources} />
    </section>
  );
}

function AnswerPart({
  part,
  acts,
  isLast,
}: {
  readonly part: ShownPart | Streamed;
  readonly acts: ItemActs;
  readonly isLast: boolean;
}): VNode | null {
  switch (part.type) {
    case "text":
      return <Markdown text={part.text} acts={acts} />;
    case "reasoning":
      return (
        <Fold icon={<></>} kind="reasoning" words={isLast ? "Thinking…" : "Thoughts"}>
          {() => <p class="typed muted">{whole(part.text)}</p>}
        </Fold>
      );
    case "file":
    case "image":
      return <Plain parts={[part]} acts={acts} />;
  }
}

const callWords = { working: "running", done: "", failed: "failed", waiting: "waits" } as const;

/** A call as one line: tool, main argument, state. */
export function Call({ item, acts }: ItemProps<ItemOf<"call">>): VNode {
  const { state, ended } = item;
  // How long a person thought says nothing about the call.
  const duration = ended === undefined || item.action !== undefined ? "" : durationWords(item.created, ended);
  const ending = state === "failed" ? "Error" : "Result";
  return (
    <Fold
      kind={`call ${state}`}
      icon={
        state === "working" ? (
          <span class="spinner" aria-hidden="true" />
        ) : (
          <Icon name={state === "failed" ? "failed" : state === "waiting" ? "bell" : "tool"} />
        )
      }
      words={
        <>
          <code>{line(item.tool, 120)}</code> <bdi>{line(item.main, 200)}</bdi>
        </>
      }
      side={
        <span class="muted small">
          {[item.action !== undefined && state === "failed" ? "not applied" : callWords[state], duration]
            .filter(Boolean)
            .join(" · ")}
        </span>
      }
    >
      {() => (
        <>
          <p class="muted small">Arguments</p>
          <pre class="plain" tabIndex={0} role="group" aria-label={`Arguments of ${line(item.tool, 120)}`}>
            {whole(item.arguments)}
          </pre>
          {item.result !== undefined && (
            <>
              <p class="muted small">{ending}</p>
              <pre
                class={`plain ${item.sources === undefined ? "" : "foreign"}`}
                tabIndex={0}
                role="group"
                aria-label={`${ending} of ${line(item.tool, 120)}`}
              >
                {item.result === "" ? "(empty)" : whole(item.result)}
              </pre>
            </>
          )}
          <Sources sources={item.newSources} />
          {item.isCut && <Whole seq={item.seq} acts={acts} />}
        </>
      )}
    </Fold>
  );
}

/** A branch or worker as a row that opens its own transcript. */
export function Task({
  process,
  onShow,
}: {
  readonly process: ShownProcess;
  readonly onShow: (id: string) => void;
}): VNode {
  const sign = signOf(process);
  return (
    <button
      type="button"
      class={`task ${sign.kind === "waiting" ? "wants" : ""}`}
      onClick={() => onShow(process.id)}
    >
      <Icon name={process.kind === "worker" ? "worker" : "branch"} />
      <span class="grow">
        <strong>
          <bdi>{line(nameOf(process), 160)}</bdi>
        </strong>
        <span class="meta">
          {kindOf(process)}
          {process.status !== undefined && (
            <span class="dot">
              <bdi>{line(process.status, 200)}</bdi>
            </span>
          )}
          {process.ended !== undefined && (
            <span class="dot">{durationWords(process.started, process.ended)}</span>
          )}
        </span>
      </span>
      <Sign kind={sign.kind}>{sign.words}</Sign>
    </button>
  );
}

export function Conclusion({
  item,
  acts,
  name,
}: ItemProps<ItemOf<"conclusion">> & { readonly name: string }): VNode {
  return (
    <Fold
      icon={<Icon name="check" />}
      kind="conclusion"
      words={
        <>
          Found by “<bdi>{line(name, 120)}</bdi>”
        </>
      }
    >
      {() => (
        <>
          <Markdown text={item.text} acts={acts} />
          <Sources sources={item.newSources} />
        </>
      )}
    </Fold>
  );
}

export function Summary({ item, acts }: ItemProps<ItemOf<"summary">>): VNode {
  return (
    <Fold icon={<Icon name="fold" />} kind="summary" words="Earlier turns were summarised for the model">
      {() => (
        <>
          <Markdown text={item.text} acts={acts} />
          <p class="muted small">What it stands for is still here and can be searched.</p>
        </>
      )}
    </Fold>
  );
}

/** The end of a process that failed or was stopped, with what to do. */
export function End({ item: { process, unread } }: Pick<ItemProps<ItemOf<"end">>, "item">): VNode {
  const { error, state } = process;
  const left = leftUnread(unread);
  // A stop has an error where a reason was given.
  if (error === undefined || state === "Cancelled")
    return (
      <p class="line-note muted">
        {[stoppedHere, whole(error?.message ?? ""), left].filter(Boolean).join(" ")}
      </p>
    );
  return (
    <div class="failure">
      <Icon name="failed" label="Failed" />
      <div>
        <p>{whole(error.message)}</p>
        <p class="muted small">{[adviceFor(error), left].filter(Boolean).join(" ")}</p>
      </div>
    </div>
  );
}
