import { plainMessage, withoutIcons } from "../../base/plain-text.ts";
import type { ChatAgent } from "../../services/chat-files/chat-files.ts";
import { inMessage } from "../language/action-words.ts";
import { capability, supports } from "../session/params.ts";
import type { Session } from "../session/session.ts";

const messageType = { warning: 2, info: 3 } as const;
/** Maximum length of an answer in a message. Characters. */
const maxMessageCharacters = 8_000;
const maxNameCharacters = 40;

/** Returns an agent's name for a title or a message. */
export function agentName({ name, id }: ChatAgent): string {
  const plain = withoutIcons(plainMessage(name).trim());
  const characters = Array.from(plain === "" ? id : plain);
  return characters.length <= maxNameCharacters
    ? characters.join("")
    : `${characters.slice(0, maxNameCharacters).join("")}…`;
}

/** Says that a message was sent, where no lens shows it. */
export function saySent(session: Session, agent: ChatAgent): void {
  if (capability(session, "textDocument", "codeLens") !== undefined) return;
  const where = supports(session, "workspace", "applyEdit") ? " The answer comes below it." : "";
  say(session, messageType.info, `Lares: your message is with ${agentName(agent)}.${where}`);
}

/** Shows an answer to a person whose editor does not let servers edit. */
export function sayAnswer(session: Session, agent: ChatAgent, markdown: string): void {
  const shown =
    markdown.length > maxMessageCharacters ? `${markdown.slice(0, maxMessageCharacters)}…` : markdown;
  say(session, messageType.info, inMessage(`Lares: ${agentName(agent)} answered. ${howToWrite}\n\n${shown}`));
}

/** Says that an answer could not be written. */
export function sayLater(session: Session, agent: ChatAgent): void {
  const message = `Lares: the answer of ${agentName(agent)} is not in the file, because the editor refused the edit. It is kept. ${howToWrite}`;
  say(session, messageType.warning, message);
}

export function sayWhy(session: Session, why: string): void {
  say(session, messageType.warning, `Lares: ${plainMessage(why)}`);
}

const howToWrite = 'The code action "Lares: write the missing answer below" writes it.';

function say(session: Session, type: number, message: string): void {
  session.endpoint.notifyStandard("window/showMessage", { type, message });
}
