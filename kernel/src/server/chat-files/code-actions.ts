import type { CodeAction, Command } from "vscode-languageserver";
import { isJsonObject } from "../../base/json.ts";
import { plainMessage, withoutIcons } from "../../base/plain-text.ts";
import { chatActionKind } from "../../protocol/v1/capabilities.ts";
import { isChatFile } from "../../services/chat-files/turns.ts";
import type { OpenChats } from "./open-chats.ts";
import type { ShownChat } from "./shown-chat.ts";
import { agentName } from "./words.ts";
import { capability, documentUriOf, supports } from "../session/params.ts";
import type { Session } from "../session/session.ts";

const maxQuotedCharacters = 40;

/** `textDocument/codeAction` of a chat file, wherever the cursor is. */
export async function chatActions(
  chats: OpenChats | undefined,
  params: unknown,
  session: Session,
): Promise<(Command | CodeAction)[]> {
  const uri = documentUriOf(params);
  if (uri === null || !isChatFile(uri) || !session.trusted || !isRequested(params)) return [];
  const shown = (await chats?.shown(uri)) ?? null;
  if (shown === null || chats === undefined) return [];
  const actions = [...sendActions(shown, uri), ...(await edits(chats, shown, session, uri))];
  // Older editors support commands only.
  if (isJsonObject(capability(session, "textDocument", "codeAction", "codeActionLiteralSupport")))
    return actions;
  return actions.flatMap(({ command }) => command ?? []);
}

/** One for each agent. Another agent than the conversation's begins another conversation. */
function sendActions({ standing, turn, isWorking }: ShownChat, uri: string): CodeAction[] {
  const { agent, agents } = standing;
  const others = agents.filter(({ id }) => id !== agent?.id);
  const words = turn === null || turn.text === "" ? null : quoted(turn.text);
  return [
    ...(words === null
      ? []
      : [...(agent === null ? [] : [agent]), ...others].map((each) =>
          codeAction(
            "send",
            `Lares: send to ${agentName(each)}${agent === null || each === agent ? "" : ", in a new conversation"}: ${words}`,
            { uri, agent: each.id },
          ),
        )),
    ...(isWorking
      ? [codeAction("stop", `Lares: stop ${agent === null ? "it" : agentName(agent)}`, { uri })]
      : []),
  ];
}

async function edits(
  chats: OpenChats,
  shown: ShownChat,
  session: Session,
  uri: string,
): Promise<CodeAction[]> {
  const { missing, turn, isWorking } = shown;
  if (missing === null && (turn !== null || isWorking)) return [];
  const [verb, title] =
    missing === null
      ? (["begin", "Lares: new message below"] as const)
      : (["write", "Lares: write the missing answer below"] as const);
  if (supports(session, "workspace", "applyEdit")) return [codeAction(verb, title, { uri })];
  return [{ title, kind: chatActionKind, edit: await chats.offeredEdit(shown) }];
}

function codeAction(
  verb: "send" | "stop" | "write" | "begin",
  title: string,
  argument: Readonly<Record<string, unknown>>,
): CodeAction {
  return {
    title,
    kind: chatActionKind,
    command: { title, command: `lares.chat.${verb}`, arguments: [argument] },
  };
}

/** The beginning of a message, and how much more there is. */
function quoted(text: string): string {
  const [first = "", ...more] = text.split(/\r\n|\r|\n/);
  const line = Array.from(withoutIcons(plainMessage(first)));
  const cut =
    line.length > maxQuotedCharacters ? `${line.slice(0, maxQuotedCharacters).join("")}…` : line.join("");
  const rest = more.length === 0 ? "" : ` and ${more.length} more ${more.length === 1 ? "line" : "lines"}`;
  return `"${cut}"${rest}`;
}

/** Kinds are hierarchical. Without kinds, all are requested. */
function isRequested(params: unknown): boolean {
  const context = isJsonObject(params) ? params["context"] : null;
  const only = isJsonObject(context) ? context["only"] : undefined;
  if (!Array.isArray(only)) return true;
  return only.some((kind) => kind === "" || kind === chatActionKind || chatActionKind.startsWith(`${kind}.`));
}
