import { actionStateWords } from "../../base/vocabulary/action-words.ts";
import { endedStates } from "../../base/vocabulary/conversation.ts";
import type { Key } from "../keyboard/key.ts";
import { edited, openedLate, typedInto } from "./composing.ts";
import { layoutOf } from "./render/layout.ts";
import { insert, sent, sentUnkept, typed, withText } from "./state/composer.ts";
import { listedAgain } from "./known-keys.ts";
import { knownPanel } from "./state/memories.ts";
import { fileWord, slashOf, wordAt } from "./state/slash.ts";
import { afterKey, isLost, isRepeated, withoutDecision, withoutLostCard } from "./lost-cards.ts";
import { focusKey, panelKey, toggled, toWaiting } from "./focus.ts";
import { isRedaction, whyNotNow } from "./redacting.ts";
import { run, runOffered, summarising } from "./run-command.ts";
import type { ChatInput, ChatStep } from "./input.ts";
import {
  isAtWork,
  isFocusable,
  isView,
  newChat,
  offeredIn,
  shownItems,
  withNotice,
  withWhole,
  type ChatState,
  type Seen,
} from "./state/state.ts";
import { addNews, type News } from "./state/transcript.ts";
import { complain, say, stay } from "./steps.ts";

/** Within this time, a second Ctrl-C leaves. */
const leaveWithinMs = 3_000;
const leaveHint = "Press Ctrl-C again to leave.";
const isCopyNow = "This is a copy now. /resume returns to the conversation that it was made from.";
/** The place of a text that was refused. */
const broughtBack = "↑ brings back what you wrote.";
/** A paste counts as what was typed, and so never as keys. */
const tabWidth = "    ";

/** Returns the state of a chat after an input, and the requests that it makes. Pure. */
export function update(state: ChatState, input: ChatInput): ChatStep {
  const step = updated(state, input);
  if (input.kind === "key") {
    const next = afterKey(input.key, step);
    return { ...step, state: { ...next, hasJustLeft: hasLeft(state, next, input.key) } };
  }
  return { ...step, state: withoutLostCard(state, step.state) };
}

function updated(state: ChatState, input: ChatInput): ChatStep {
  switch (input.kind) {
    case "key":
      return keyPressed({ ...state, nowMs: input.atMs }, input.key);
    case "paste":
      return pasted({ ...state, decidedBy: null }, input.text);
    case "news":
      return withNews(state, input);
    case "conversation":
      return stay(
        input.conversation.id === state.conversation.id
          ? { ...state, conversation: input.conversation }
          : state,
      );
    case "opened": {
      const { screenStyle, size, nowMs, rehearsal, composer, offered, ownDocument } = state;
      const { conversation, agentName } = input;
      const opened = newChat({ screenStyle, size, nowMs, agentName, rehearsal, conversation, ownDocument });
      const next = { ...opened, composer, offered };
      return input.isCopy === true ? say(next, isCopyNow) : stay(next);
    }
    case "whole":
      return stay(withWhole(state, input.whole));
    case "action":
      return withAction(state, input.action.id, input.action.digest, input.action.state);
    case "ask": {
      const asks = new Map(state.asks);
      if (input.ask.state === "Pending") asks.set(input.ask.id, input.ask);
      else asks.delete(input.ask.id);
      return stay(inFocus({ ...state, asks }));
    }
    case "notice":
      return stay({ ...state, notices: withNotice(state, input.notice) });
    case "decided":
      return stay({ ...state, busy: without(state.busy, input.id) });
    case "sent": {
      const sending = state.sending.filter(({ key }) => key !== input.key);
      const mine = state.sending.find(({ key }) => key === input.key);
      if (input.failure === null || mine === undefined) return stay({ ...state, sending });
      // It is not lost: it stands in the composer again, or in the history if something else is being written.
      const next = { ...state, sending };
      return state.composer.text === ""
        ? complain({ ...next, composer: withText(state.composer, mine.text) }, input.failure)
        : complain(next, `${input.failure} ${broughtBack}`);
    }
    case "files": {
      const word = wordAt(state.composer.text, state.composer.cursor);
      if (word?.kind !== "file" || word.word !== input.word) return stay(state);
      const choices = [
        ...input.paths.map((path) => ({ value: fileWord(path), about: "" })),
        // Only its id: the title has an agent's words, which must not become the person's.
        ...(input.changes ?? []).map(({ id, title }) => ({
          value: `the change ${id}`,
          about: `${actionStateWords.PendingApproval}: ${title}`,
        })),
      ];
      return stay({ ...state, completion: choices.length === 0 ? null : { ...word, choices, selected: 0 } });
    }
    case "context":
      return openedLate(state, { kind: "context", context: input.context, top: 0 });
    case "known":
      if (input.isAgain === true) return stay(listedAgain(state, input));
      return input.items.length === 0 ? say(state, input.title) : openedLate(state, knownPanel(input));
    case "redactable": {
      const { text, found, atMs } = input;
      return openedLate(state, { kind: "redact", text, found, atMs });
    }
    case "conversations":
      return input.items.length === 0
        ? say(state, "There is no other conversation.")
        : openedLate(state, { kind: "choose", items: input.items, selected: 0 });
    case "workspace":
      return stay({ ...state, ownDocument: input.ownDocument });
    case "offered":
      return stay({ ...state, offered: input.commands });
    case "said": {
      const { leavingAtMs, nowMs } = state;
      // It would hide what a second Ctrl-C does.
      const isLeaving = leavingAtMs !== null && nowMs - leavingAtMs < leaveWithinMs;
      return say(state, isLeaving ? `${input.text} ${leaveHint}` : input.text);
    }
    case "failed":
      return complain(
        input.id === undefined ? state : { ...state, busy: without(state.busy, input.id) },
        input.message,
      );
    case "link":
      return stay({ ...state, isCutOff: input.isCutOff });
    case "drawn":
      return stay(withSeen(state));
    case "resized":
      return stay({ ...state, size: input.size, top: null }, { kind: "redraw" });
    case "tick":
      return stay(withoutDecision(withoutHint({ ...state, nowMs: input.nowMs })));
  }
}

function withNews(state: ChatState, { news }: ChatInput & { kind: "news" }): ChatStep {
  const transcript = addNews(state.transcript, news);
  const wanted = [...transcript.actions.keys()].filter((id) => !state.transcript.actions.has(id));
  // Their ends have other states than those that are shown.
  const ended = news.flatMap(({ kind, ...one }) =>
    kind === "entry" && "entry" in one && one.entry.kind === "action" && state.actions.has(one.entry.ref)
      ? [one.entry.ref]
      : [],
  );
  const loads = [...new Set([...wanted, ...ended])].map((id) => ({ kind: "load" as const, id }));
  return stay(inFocus({ ...state, transcript, message: messageAfter(state, news) }), ...loads);
}

/** Returns the message without the parts that have ended. */
function messageAfter({ message }: ChatState, news: readonly News[]): ChatState["message"] {
  if (message?.text !== summarising) return message;
  for (const one of news) {
    if (one.kind !== "entry") continue;
    // Why it was not summarised.
    if (one.entry.kind === "notice") return null;
    if (one.entry.kind !== "process" || one.entry.value.kind !== "compaction") continue;
    const { state } = one.entry.value;
    if (state === "Done") return { text: "Earlier turns were summarised.", isFault: false };
    if (endedStates.has(state)) return null;
  }
  return message;
}

function withAction(state: ChatState, id: string, digest: string, now: string): ChatStep {
  const known = state.actions.get(id);
  if (known === undefined) return stay(state);
  if (known.action.digest === digest && known.action.state === now) return stay(state);
  return stay(state, { kind: "load", id });
}

/** Returns the state without a focus on something that is no longer shown. */
function inFocus(state: ChatState): ChatState {
  if (state.focus === null) return state;
  const item = shownItems(state).find(({ key }) => key === state.focus);
  return item === undefined || !isFocusable(item) ? { ...state, focus: null } : state;
}

function keyPressed(before: ChatState, key: Key): ChatStep {
  if (key.isControl && key.name === "c") return interrupted(before);
  if (isLost(before, key)) return stay(before);
  if (isRepeated(before, key)) return stay({ ...before, decidedBy: { key: key.text, isQuiet: false } });
  const state: ChatState = { ...withoutHint(before, true), leavingAtMs: null, lostKeys: "", decidedBy: null };
  if (key.isControl && key.name === "z") return stay(state, { kind: "suspend" });
  if (key.isControl && key.name === "l") return stay(state, { kind: "redraw" });
  if (state.panel !== null) {
    const step = panelKey(state, state.panel, key);
    // A character that means nothing there begins a message, which continues in the composer.
    const begins = key.text === "/" || (isView(state.panel) && key.text.trim() !== "");
    if (!begins || step.state !== state || step.commands.length > 0) return step;
    return typedInto(state, key.text);
  }
  if (key.isControl && key.name === "d" && state.composer.text === "") return stay(state, { kind: "quit" });
  if (key.isControl && key.name === "o") return toggled(state);
  if (key.name === "pageup" || key.name === "pagedown")
    return scrolled(state, key.name === "pageup" ? -1 : 1);
  if (state.completion !== null) {
    const step = completionKey(state, key);
    if (step !== null) return step;
  }
  if (state.focus !== null) {
    const step = focusKey(state, state.focus, key);
    // A character that means nothing there begins a message.
    if (key.text === "" || step.state !== state || step.commands.length > 0) return step;
    return edited({ ...state, focus: null, top: null, composer: insert(state.composer, key.text) });
  }
  switch (key.name) {
    case "escape":
      return escaped(state, before);
    case "tab":
      return toWaiting(state);
    case "return":
    case "enter":
      return key.isMeta === true || key.name === "enter"
        ? edited({ ...state, composer: insert(state.composer, "\n") })
        : entered(state);
  }
  const composer = typed(state.composer, key);
  return composer === null ? stay(state) : edited({ ...state, composer, message: null });
}

/** True if a key left what had the keys, which an impatient person's next Esc is meant for too. */
function hasLeft(before: ChatState, after: ChatState, key: Key): boolean {
  if (before.panel !== null || before.focus !== null) return after.panel === null && after.focus === null;
  return key.name === "escape" && before.completion !== null && after.completion === null;
}

function interrupted(state: ChatState): ChatStep {
  const { leavingAtMs, nowMs } = state;
  if (leavingAtMs !== null && nowMs - leavingAtMs < leaveWithinMs) return stay(state, { kind: "quit" });
  const next = { ...state, leavingAtMs: nowMs, completion: null };
  if (isAtWork(state)) return say(next, `Stopping… ${leaveHint}`, { kind: "stop" });
  return say(next, `${leaveHint} The conversation can be resumed.`);
}

/** Returns the state without the hint that a second Ctrl-C leaves, once it does not: its time is over, or after another key. */
function withoutHint(state: ChatState, isOver = false): ChatState {
  const { leavingAtMs, nowMs, message } = state;
  if (leavingAtMs === null || (!isOver && nowMs - leavingAtMs < leaveWithinMs)) return state;
  const at = message?.text.indexOf(leaveHint) ?? -1;
  if (message === null || at === -1) return { ...state, leavingAtMs: null };
  const text = message.text.slice(0, at).trim();
  return { ...state, leavingAtMs: null, message: text === "" ? null : { ...message, text } };
}

function escaped(state: ChatState, { hasJustLeft, lostKeys }: ChatState): ChatStep {
  if (isAtWork(state))
    return hasJustLeft || lostKeys !== ""
      ? say(state, "Esc once more stops what runs.")
      : say(state, "Stopping…", { kind: "stop" });
  return stay({ ...state, message: null, top: null });
}

function entered(state: ChatState): ChatStep {
  const { composer } = state;
  const { text, cursor } = composer;
  if (cursor === text.length && text.endsWith("\\"))
    return stay({ ...state, composer: withText(composer, `${text.slice(0, -1)}\n`) });
  if (text.trim() === "") return stay(state);
  // The text stays for the next try: it is in no history.
  const refusal = whyNotNow(state);
  if (refusal !== null) return complain({ ...state, completion: null }, refusal);
  const slash = slashOf(text, offeredIn(state));
  const isKept = !isRedaction(text);
  const next = {
    ...state,
    composer: isKept ? sent(composer) : sentUnkept(composer),
    completion: null,
    message: null,
    top: null,
  };
  // It does not stay in the composer, where the next words would be written behind it.
  if (slash?.kind === "unknown")
    return complain({ ...next, top: state.top }, isKept ? `${slash.message} ${broughtBack}` : slash.message);
  if (slash?.kind === "offered") return runOffered(next, slash.command, slash.rest);
  if (slash !== null) return run(next, slash.name, slash.rest);
  const key = `${state.conversation.id.slice(-12)}-${state.nowMs}-${state.composer.history.length}`;
  return stay(
    { ...next, sending: [...state.sending, { key, text: text.trim() }] },
    { kind: "send", key, text: text.trim() },
  );
}

function pasted(state: ChatState, pastedText: string): ChatStep {
  const text = pastedText.replace(/\r\n?/g, "\n").replaceAll("\t", tabWidth);
  if (state.panel?.kind === "reason")
    return stay({ ...state, panel: { ...state.panel, text: state.panel.text + text.replaceAll("\n", " ") } });
  if (state.panel?.kind === "known" && typeof state.panel.doing === "object") {
    const composer = insert(state.panel.doing.composer, text);
    return stay({ ...state, panel: { ...state.panel, doing: { composer } } });
  }
  if (state.panel !== null) return stay(state);
  return edited({ ...state, focus: null, composer: insert(state.composer, text) });
}

function completionKey(state: ChatState, key: Key): ChatStep | null {
  const { completion, composer } = state;
  if (completion === null) return null;
  const { choices, selected, start } = completion;
  switch (key.name) {
    case "escape":
      return stay({ ...state, completion: null });
    case "up":
    case "down": {
      if (choices.length === 0) return null;
      const next = (selected + (key.name === "down" ? 1 : choices.length - 1)) % choices.length;
      return stay({ ...state, completion: { ...completion, selected: next } });
    }
    case "tab":
    case "return": {
      const choice = choices[selected];
      if (choice === undefined) return key.name === "tab" ? stay({ ...state, completion: null }) : null;
      const isWhole = composer.text.slice(start, composer.cursor) === choice.value;
      // A command that is written out is run.
      if (key.name === "return" && isWhole) return null;
      const rest = composer.text.slice(composer.cursor);
      // What is in a folder is proposed next.
      const isFolder = completion.kind === "file" && choice.value.endsWith("/");
      const blank = isFolder || rest.startsWith(" ") ? "" : " ";
      const text = composer.text.slice(0, start) + choice.value + blank + rest;
      const cursor = start + choice.value.length + (isFolder ? 0 : 1);
      const next = { ...state, completion: null, composer: withText(composer, text, cursor) };
      return isFolder ? edited(next) : stay(next);
    }
    default:
      return null;
  }
}

function scrolled(state: ChatState, step: -1 | 1): ChatStep {
  const { body, bodyRows, top } = layoutOf(state);
  const next = Math.max(0, top + step * Math.max(1, bodyRows - 2));
  return stay({ ...state, top: next + bodyRows >= body.length ? null : next });
}

/** Returns the state with how much of each open card has been on the screen. */
function withSeen(state: ChatState): ChatState {
  const { cards, top, bodyRows, width, coversBody } = layoutOf(state);
  if (coversBody) return state;
  const seen = new Map<string, Seen>();
  for (const { id, digest, start, end, isWhole } of cards) {
    if (!isWhole) continue;
    const known = state.seen.get(id);
    const before = known?.digest === digest && known.width === width ? known.to : 0;
    const from = Math.max(0, top - start);
    const to = Math.min(end, top + bodyRows) - start;
    seen.set(id, { digest, width, to: from <= before && to > before ? to : before });
  }
  return { ...state, seen };
}

function without(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  next.delete(id);
  return next;
}
