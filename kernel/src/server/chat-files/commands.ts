import { invalidParams, isLaresError } from "../../base/errors.ts";
import type { OpenChats } from "./open-chats.ts";
import { sayWhy } from "./words.ts";
import type { Session } from "../session/session.ts";
import { command, type Command } from "../language/command.ts";

/** The commands of chat files' lenses and code actions. Nothing else ever sends a message. */
export function chatCommands(chatsOf: (session: Session) => OpenChats | undefined) {
  return {
    "lares.chat.send": command("lares.chat.send", ({ uri, agent }, session) =>
      withMessage(session, chatsOf, (chats) => chats.send(uri, agent)),
    ),
    "lares.chat.stop": command("lares.chat.stop", ({ uri }, session) =>
      withMessage(session, chatsOf, (chats) => chats.stop(uri)),
    ),
    "lares.chat.write": command("lares.chat.write", ({ uri }, session) =>
      withMessage(session, chatsOf, (chats) => chats.write(uri)),
    ),
    "lares.chat.begin": command("lares.chat.begin", ({ uri }, session) =>
      withMessage(session, chatsOf, (chats) => chats.begin(uri)),
    ),
  } satisfies Record<string, Command>;
}

async function withMessage(
  session: Session,
  chatsOf: (session: Session) => OpenChats | undefined,
  run: (chats: OpenChats) => Promise<void>,
): Promise<null> {
  const chats = chatsOf(session);
  if (chats === undefined) throw invalidParams("The session has ended.");
  try {
    await run(chats);
    return null;
  } catch (error) {
    // Some editors only log a command's error, so the person would not see it.
    if (isLaresError(error)) sayWhy(session, error.message);
    throw error;
  }
}
