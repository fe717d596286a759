import type { CodeLens, Command } from "vscode-languageserver";
import { positionAt } from "../../base/text-positions.ts";
import { isChatFile } from "../../services/chat-files/turns.ts";
import type { OpenChats } from "./open-chats.ts";
import type { ShownChat } from "./shown-chat.ts";
import { agentName } from "./words.ts";
import { documentUriOf } from "../session/params.ts";
import type { Session } from "../session/session.ts";

/** `textDocument/codeLens` of a chat file: sends, stops, and says what happens. */
export async function chatLenses(
  chats: OpenChats | undefined,
  params: unknown,
  session: Session,
): Promise<CodeLens[]> {
  const uri = documentUriOf(params);
  if (uri === null || !isChatFile(uri)) return [];
  if (!session.trusted)
    return [lens(0, { title: "Lares: nobody answers before you allow this workspace", command: "" })];
  const shown = (await chats?.shown(uri)) ?? null;
  return shown === null ? [] : lensesOf(shown, uri);
}

function lensesOf({ chat, standing, turn, missing, isWorking }: ShownChat, uri: string): CodeLens[] {
  const { agent, agents } = standing;
  const lineOf = (offset: number): number => positionAt(chat.text, offset).line;
  const run = (title: string, verb: "send" | "stop" | "write" | "begin", more: object = {}): Command => ({
    title,
    command: `lares.chat.${verb}`,
    arguments: [{ uri, ...more }],
  });
  const asked = agent === null ? agents : [agent];
  const at = lineOf(chat.places.answer);
  return [
    ...(turn === null || turn.text === ""
      ? []
      : (asked.length === 0
          ? [{ title: "Lares: no agent of this folder has a mind that could answer", command: "" }]
          : asked.map((each) => run(`Lares: send to ${agentName(each)}`, "send", { agent: each.id }))
        ).map((command) => lens(lineOf(turn.start), command))),
    ...(turn === null && chat.foreign !== null
      ? [lens(lineOf(chat.text.length), run("Lares: new message below", "begin"))]
      : []),
    ...(missing === null ? [] : [lens(at, run("Lares: write the missing answer below", "write"))]),
    ...(isWorking
      ? [lens(at, { title: `Lares: ${workWords(standing)}`, command: "" }), lens(at, run("Stop", "stop"))]
      : []),
  ];
}

/** Returns what the conversation does now: `Steward is answering`. */
function workWords({ agent, conversation }: ShownChat["standing"]): string {
  const processes = conversation?.processes ?? [];
  const name = agentName(agent ?? { id: conversation?.agent ?? "", name: conversation?.agent ?? "" });
  if (processes.some(({ state }) => state === "WaitingForApproval")) return `${name} waits for your decision`;
  const channel = processes.find(({ kind }) => kind === "channel");
  if (channel?.state === "Waiting") return `${name} waits for its turn`;
  return channel?.state === "WaitingForInput" ? `${name} works on it` : `${name} is answering`;
}

function lens(line: number, command: Command): CodeLens {
  const start = { line, character: 0 };
  return { range: { start, end: start }, command };
}
