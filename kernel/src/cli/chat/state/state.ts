import type { Action, ActionState } from "../../../base/vocabulary/action.ts";
import { endedStates, type Conversation, type Process } from "../../../base/vocabulary/conversation.ts";
import type {
  ConversationContext,
  RedactedConversation,
} from "../../../base/vocabulary/conversation-requests.ts";
import type { Ask } from "../../../base/vocabulary/ask.ts";
import { oneLine } from "../../render/foreign.ts";
import type { Notice } from "../../render/model.ts";
import type { ScreenStyle } from "../../render/screen-style.ts";
import type { Size } from "../../review/state/state.ts";
import type { WholeAction } from "../../run/whole-action.ts";
import type { ConversationChoice } from "./choices.ts";
import { emptyComposer, type Composer } from "./composer.ts";
import type { KnownPanel } from "./memories.ts";
import { oneNamed } from "../../one-named.ts";
import { offeredWords, type Completion, type OfferedWord } from "./slash.ts";
import type { OfferedCommand } from "../../offered-commands.ts";
import { itemsOf, type Item } from "./items.ts";
import { channelOf, emptyTranscript, isWorking, type Transcript } from "./transcript.ts";
import { hasThought } from "./messages.ts";

/** How much of a card has been on the screen. */
export interface Seen {
  readonly digest: string;
  readonly width: number;
  /** The number of lines from its top that have been on the screen without a gap. */
  readonly to: number;
}

/** The branches and workers, each in a row. */
export interface WorkersPanel {
  readonly kind: "workers";
  readonly selected: number;
  /** The ids of those whose work is shown. */
  readonly open: ReadonlySet<string>;
  readonly top: number;
}

/** The question whether a text is to be removed. */
export interface RedactPanel {
  readonly kind: "redact";
  readonly text: string;
  readonly found: RedactedConversation;
  /** When it was asked. */
  readonly atMs: number;
}

/** A panel that replaces the transcript or the composer. */
export type Panel =
  | { readonly kind: "reason"; readonly id: string; readonly text: string }
  | { readonly kind: "scopes"; readonly id: string; readonly digest: string }
  | RedactPanel
  | { readonly kind: "help"; readonly top: number }
  | WorkersPanel
  | { readonly kind: "context"; readonly context: ConversationContext; readonly top: number }
  | KnownPanel
  | { readonly kind: "choose"; readonly items: readonly ConversationChoice[]; readonly selected: number };

/** True for a panel to look at, which takes no text. */
export function isView(panel: Panel): boolean {
  if (panel.kind === "known") return typeof panel.doing !== "object";
  return panel.kind !== "reason" && panel.kind !== "scopes" && panel.kind !== "redact";
}

export interface ChatState {
  readonly screenStyle: ScreenStyle;
  readonly size: Size;
  readonly nowMs: number;
  /** The agent, as its manifest names it. */
  readonly agentName: string;
  /** The name of the script that answers instead of a model; null without one. */
  readonly rehearsal: string | null;
  readonly conversation: Conversation;
  /** The document that Lares writes for a folder without one. */
  readonly ownDocument: string | null;
  readonly transcript: Transcript;
  /** The actions that the transcript names, as they are now. */
  readonly actions: ReadonlyMap<string, WholeAction>;
  readonly seen: ReadonlyMap<string, Seen>;
  /** The questions that wait. */
  readonly asks: ReadonlyMap<string, Ask>;
  /** What agents said to the person meanwhile, the last ones, where they stand in the log. */
  readonly notices: readonly { readonly seq: number; readonly notice: Notice }[];
  /** Actions that were undone in this session, with their places in the log, which has no entry for an undo. */
  readonly undone: readonly { readonly seq: number; readonly action: string }[];
  /** What extensions offer. */
  readonly offered: readonly OfferedCommand[];
  readonly composer: Composer;
  readonly completion: Completion | null;
  /** The item that receives the keys; null: the composer. */
  readonly focus: string | null;
  /** The items that are shown in full. */
  readonly open: ReadonlySet<string>;
  /** Actions and questions that are being decided. */
  readonly busy: ReadonlySet<string>;
  /**
   * What the person might still press to decide about a card that has just gone by itself: the next character must not
   * become the beginning of a message. Empty otherwise.
   */
  readonly lostKeys: string;
  /**
   * The key by which the person decided last: pressed again, because it was held down or the screen had not changed yet, it
   * must not become the beginning of a message. `isQuiet`: a tick has passed without it. Null otherwise.
   */
  readonly decidedBy: { readonly key: string; readonly isQuiet: boolean } | null;
  /** The last key left a view, a list or an item. The next Esc may still be meant for that, so it stops nothing. */
  readonly hasJustLeft: boolean;
  readonly panel: Panel | null;
  /** The first visible line; null: the end is visible, also when more arrives. */
  readonly top: number | null;
  readonly message: { readonly text: string; readonly isFault: boolean } | null;
  /** The kernel has gone, and the next one is being started. */
  readonly isCutOff: boolean;
  /** Messages that are being sent. */
  readonly sending: readonly { readonly key: string; readonly text: string }[];
  /** When Ctrl-C was pressed. */
  readonly leavingAtMs: number | null;
}

export function newChat(
  given: Pick<ChatState, "screenStyle" | "size" | "nowMs" | "agentName" | "rehearsal" | "conversation"> &
    Partial<Pick<ChatState, "ownDocument">>,
): ChatState {
  return {
    ownDocument: null,
    ...given,
    transcript: emptyTranscript,
    actions: new Map(),
    seen: new Map(),
    asks: new Map(),
    notices: [],
    undone: [],
    offered: [],
    composer: emptyComposer,
    completion: null,
    focus: null,
    open: new Set(),
    busy: new Set(),
    lostKeys: "",
    decidedBy: null,
    hasJustLeft: false,
    panel: null,
    top: null,
    message: null,
    isCutOff: false,
    sending: [],
    leavingAtMs: null,
  };
}

/** Returns the commands of extensions as they are called in this conversation. */
export function offeredIn({
  offered,
  conversation,
}: Pick<ChatState, "offered" | "conversation">): OfferedWord[] {
  return offeredWords(offered, conversation.agent);
}

/** An item of the transcript, or a question, which has no place in the log. */
export type ShownItem =
  | Item
  | { readonly kind: "ask"; readonly key: string; readonly ask: Ask }
  | { readonly kind: "notice"; readonly key: string; readonly seq: number; readonly notice: Notice }
  | { readonly kind: "undone"; readonly key: string; readonly seq: number; readonly action: string };

/** A longer list of what agents said is in `lares notifications`. */
const maxNotices = 20;

/** Returns the notices with one more; what is said again replaces what was said first. */
export function withNotice(
  { notices, transcript }: Pick<ChatState, "notices" | "transcript">,
  notice: Notice,
): ChatState["notices"] {
  const others = notices.filter((known) => notice.id === undefined || known.notice.id !== notice.id);
  return [...others, { seq: transcript.lastSeq, notice }].slice(-maxNotices);
}

/** Returns the state with an action as it was read. */
export function withWhole(state: ChatState, whole: WholeAction): ChatState {
  const { id, state: now } = whole.action;
  const isUndone = now === "Undone" && actionOf(state, id)?.state === "Committed";
  return {
    ...state,
    actions: new Map(state.actions).set(id, whole),
    undone: isUndone ? [...state.undone, { seq: state.transcript.lastSeq, action: id }] : state.undone,
  };
}

/** Returns what is shown, in its order. Questions that wait come last. */
export function shownItems({ transcript, asks, notices, undone }: ChatState): ShownItem[] {
  const told = notices.map(({ seq, notice }, index) => {
    const key = `notice ${notice.id ?? index}`;
    return { kind: "notice" as const, key, seq, notice };
  });
  const reverted = undone.map(({ seq, action }) => {
    return { kind: "undone" as const, key: `undone ${action}`, seq, action };
  });
  return [
    ...[...itemsOf(transcript), ...told, ...reverted]
      .toSorted((a, b) => (a.seq === b.seq ? 0 : a.seq - b.seq))
      // The action's own line says it as well.
      .filter((item, at, all) => item.kind !== "undone" || !isLineOf(item.action, all[at - 1])),
    ...[...asks.values()].map((ask) => ({ kind: "ask" as const, key: ask.id, ask })),
  ];
}

function isLineOf(action: string, item: ShownItem | undefined): boolean {
  return item?.kind === "action" && item.action === action;
}

export function stateOfAction({ actions }: ChatState, item: { action: string; state: string }): ActionState {
  return actions.get(item.action)?.action.state ?? (item.state as ActionState);
}

/** Returns the action that an item shows, as it is now; null while it is being loaded. */
export function actionOf({ actions }: ChatState, id: string): Action | null {
  return actions.get(id)?.action ?? null;
}

/** True for an item that the person has to decide about. */
export function isWaiting(state: ChatState, item: ShownItem): boolean {
  if (item.kind === "ask") return true;
  return item.kind === "action" && stateOfAction(state, item) === "PendingApproval";
}

/** True for an item that a key opens, decides or undoes. */
export function isFocusable(item: ShownItem): boolean {
  switch (item.kind) {
    case "call":
    case "action":
    case "ask":
      return true;
    case "process":
      return true;
    case "message":
      return item.message.role === "assistant" && hasThought(item.message);
    case "notice":
    case "undone":
    case "end":
      return false;
    case "remark":
      return item.remark.kind === "summary";
  }
}

export function waitingItems(state: ChatState): ShownItem[] {
  return shownItems(state).filter((item) => isWaiting(state, item));
}

/** Returns what `/stop` stops: processes that have not ended, except a channel that only waits for the next message. */
export function stoppable({ transcript }: Pick<ChatState, "transcript">): Process[] {
  return [...transcript.processes.values()]
    .map(({ value }) => value)
    .filter(
      ({ kind, state }) => !endedStates.has(state) && (kind !== "channel" || state !== "WaitingForInput"),
    );
}

/** Returns the end of a process's id, which names it in a command. */
export function shortIdOf(id: string): string {
  return oneLine(id).slice(-8);
}

/** Returns the one running branch or worker that a person means by an id, a name or a task. UsageError otherwise. */
export function runningNamed(state: Pick<ChatState, "transcript">, given: string): Process {
  return oneNamed(runningProcesses(state), given, {
    noun: "running branch or worker",
    nouns: "running branches and workers",
    listing: "/workers",
    titled: "task",
    id: ({ id }) => id,
    title: ({ task, kind }) => task ?? kind,
    alias: ({ name }) => name,
    aliased: "a kind",
    shownId: ({ id }) => shortIdOf(id),
    isShort: true,
  });
}

/** Returns the processes besides the channel that have not ended. */
export function runningProcesses({ transcript }: Pick<ChatState, "transcript">): Process[] {
  return [...transcript.processes.values()]
    .map(({ value }) => value)
    .filter(({ kind, state }) => kind !== "channel" && !endedStates.has(state));
}

/** Returns those of them that work or wait for the person. A worker that is ready has reported, and may be told more. */
export function processesAtWork(state: Pick<ChatState, "transcript">): Process[] {
  return runningProcesses(state).filter((process) => process.state !== "WaitingForInput");
}

/** True while something works that Esc stops. */
export function isAtWork(state: ChatState): boolean {
  const channel = channelOf(state.transcript);
  return (channel !== null && isWorking(channel)) || runningProcesses(state).some(isWorking);
}

/** Returns the last change that was made in this conversation and can be undone. */
export function lastCommitted(state: ChatState): Action | null {
  const [last] = [...state.transcript.actions]
    .toSorted(([, a], [, b]) => b.last - a.last)
    .flatMap(([id]) => {
      const action = actionOf(state, id);
      return action?.state === "Committed" ? [action] : [];
    });
  return last ?? null;
}

/** True if a change was made in this conversation and is undone. */
export function hasUndone(state: ChatState): boolean {
  return [...state.transcript.actions.keys()].some((id) => actionOf(state, id)?.state === "Undone");
}

/** `isAnyWaiting`: a change waits for the person, who may mean that one. */
export function nothingToUndo(isUndone: boolean, isAnyWaiting: boolean): string {
  const reason = isUndone
    ? "Nothing is left to undo."
    : "No change was made in this conversation that could be undone.";
  return isAnyWaiting ? `${reason} What waits for you is not made yet.` : reason;
}
