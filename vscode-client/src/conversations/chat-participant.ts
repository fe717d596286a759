import {
  chat,
  Disposable,
  Location,
  Range,
  Uri,
  type CancellationToken,
  type ChatContext,
  type ChatPromptReference,
  type ChatRequest,
  type ChatResponseStream,
  type ChatResult,
} from "vscode";
import { cutWords } from "../../../kernel/src/base/cut-answer.ts";
import { explain, refusalOf } from "../deciding/explain.ts";
import { plainMarkdown } from "../editor/plain-markdown.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { message } from "../model/text.ts";
import { pathOf, uriOf } from "../model/uris.ts";
import type { Entry } from "../protocol.ts";
import type { Attached } from "../webviews/conversations/messages.ts";
import { maxQuoted, partsOf, selectedLines } from "./attachments.ts";
import { Feed } from "./feed.ts";
import { Minds } from "./minds.ts";
import { mainOf } from "./shown-entries.ts";

/** As named in package.json. */
const participantId = "lares.chat";

/**
 * `@lares` in the editor's own chat. Each chat session is one conversation, which its answers name. What the model
 * writes is shown as text: the editor's chat would follow its links and load its pictures.
 */
export const chatParticipant: Feature = (context) => {
  // Editors built from the same sources may lack it.
  if (typeof chat?.createChatParticipant !== "function") return new Disposable(() => undefined);
  const minds = new Minds(context);
  const participant = chat.createChatParticipant(participantId, (request, past, stream, token) =>
    respond(context, minds, request, past, stream, token),
  );
  participant.iconPath = Uri.joinPath(context.extension.extensionUri, "media", "lares.svg");
  return participant;
};

async function respond(
  context: ClientContext,
  minds: Minds,
  request: ChatRequest,
  past: ChatContext,
  stream: ChatResponseStream,
  token: CancellationToken,
): Promise<ChatResult> {
  try {
    const id = conversationIn(past) ?? (await begin(context, minds));
    if (id === undefined) {
      stream.markdown(
        "No agent here has a mind. Add `dev.lares.steward` under `extensions:` in your lares.yaml, and allow it.",
      );
      return {};
    }
    await answer(context, id, request, stream, token);
    stream.button({ command: "lares.openConversation", title: "Open Conversation", arguments: [id] });
    return { metadata: { conversation: id } };
  } catch (error) {
    return { errorDetails: { message: explain(error) } };
  }
}

/** Returns the conversation that an earlier answer of this chat session named. */
export function conversationIn({ history }: Pick<ChatContext, "history">): string | undefined {
  for (const turn of history.toReversed()) {
    const result = "result" in turn ? turn.result : undefined;
    const id: unknown = result?.metadata?.["conversation"];
    if (typeof id === "string") return id;
  }
  return undefined;
}

async function begin({ kernel }: ClientContext, minds: Minds): Promise<string | undefined> {
  const [agent] = await minds.all();
  if (agent === undefined) return undefined;
  return (await kernel.request("lares/conversations/open", { agent })).id;
}

async function answer(
  { kernel }: ClientContext,
  id: string,
  { prompt, references }: ChatRequest,
  stream: ChatResponseStream,
  token: CancellationToken,
): Promise<void> {
  const { seq } = await kernel.request("lares/conversations/get", { id });
  const attached = references.flatMap((reference) => attachedFrom(reference) ?? []);
  let end: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  // The conversation may go before the message is sent.
  ended.catch(() => undefined);
  const turn = new ChatTurn(stream, () => end());
  const feed = new Feed(kernel, id, seq, {
    entries: (entries) => {
      for (const entry of entries) turn.take(entry);
    },
    deltas: (deltas) => {
      for (const { message: of, type, text } of deltas) if (type === "text") turn.stream(of, text);
    },
    changed: () => undefined,
    gone: () => fail(new Error("The conversation was deleted.")),
  });
  const cancelling = token.onCancellationRequested(() => {
    kernel.request("lares/conversations/cancel", { id }).catch(() => undefined);
    end();
  });
  try {
    await feed.follow();
    const parts = partsOf(prompt, attached);
    await kernel.request("lares/conversations/send", { id, parts, key: crypto.randomUUID() });
    stream.progress("Thinking");
    await ended;
  } catch (error) {
    if (refusalOf(error) === "NotFound")
      throw new Error("The conversation was deleted. Begin a new chat.", { cause: error });
    throw error;
  } finally {
    cancelling.dispose();
    feed.dispose();
  }
}

/** The output of one turn of a chat, until the channel rests. */
export class ChatTurn {
  readonly #stream: ChatResponseStream;
  readonly #ended: () => void;
  /** How much of each message was shown. */
  readonly #shown = new Map<string, number>();
  #channel: string | undefined;
  #hasBegun = false;

  constructor(stream: ChatResponseStream, ended: () => void) {
    this.#stream = stream;
    this.#ended = ended;
  }

  stream(of: string, text: string): void {
    this.#stream.markdown(plainMarkdown(text));
    this.#shown.set(of, (this.#shown.get(of) ?? 0) + text.length);
  }

  take(entry: Entry): void {
    switch (entry.kind) {
      case "message":
        if (entry.role === "user") {
          this.#channel ??= entry.process;
          return;
        }
        if (entry.partial === true || entry.process !== this.#channel) return;
        this.#whole(
          entry.id,
          entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
        );
        if (entry.cut !== undefined) {
          this.#stream.markdown(plainMarkdown(cutWords(entry.cut)));
          this.#stream.markdown("\n\n");
        }
        return;
      case "tool_call":
        if (entry.process === this.#channel)
          this.#stream.progress(message(`${entry.tool} ${mainOf(entry.arguments)}`, 200));
        if (typeof (entry.arguments as { path?: unknown } | null)?.path === "string")
          this.#reference((entry.arguments as { path: string }).path);
        return;
      case "action":
        if (entry.state === "PendingApproval") this.#change(entry.ref, "A change waits for you.");
        // Nothing in the conversation waited for it; a person sees and undoes it in the review.
        else if (entry.state === "Committed" && entry.origin === "kernel")
          this.#change(entry.ref, "A change was made without asking here.");
        return;
      case "ask":
        if (entry.state === "Pending")
          this.#stream.button({
            command: "lares.openAsks",
            title: "Answer Question…",
            arguments: [{ ask: entry.ref }],
          });
        return;
      case "process":
        return this.#process(entry.value);
      case "request":
      case "tool_result":
      case "conclusion":
      case "summary":
      case "notice":
      case "usage":
      case "block":
      case "pin":
      case "meta":
      case "redaction":
      case "void":
    }
  }

  #whole(id: string, text: string): void {
    const rest = text.slice(this.#shown.get(id) ?? 0);
    this.#shown.set(id, text.length);
    this.#stream.markdown(plainMarkdown(rest === "" ? "" : rest));
    this.#stream.markdown("\n\n");
  }

  #reference(path: string): void {
    const uri = uriOf(path);
    if (uri !== undefined) this.#stream.reference(uri);
  }

  /** Every decision is made where the whole of it is shown. */
  #change(id: string, words: string): void {
    this.#stream.markdown(plainMarkdown(words));
    this.#stream.button({ command: "lares.showChanges", title: "Show Changes", arguments: [id] });
    this.#stream.button({ command: "lares.review", title: "Review…", arguments: [id] });
  }

  #process({ id, kind, state, error }: Extract<Entry, { kind: "process" }>["value"]): void {
    if (kind !== "channel" || (this.#channel !== undefined && id !== this.#channel)) return;
    if (state === "Running") this.#hasBegun = true;
    if (state === "Failed" && error !== undefined)
      this.#stream.markdown(plainMarkdown(`Failed: ${message(error.message, 1_000)}`));
    if (this.#hasBegun && (state === "WaitingForInput" || state === "Failed" || state === "Cancelled"))
      this.#ended();
  }
}

/** Returns a reference of the chat as what a message is sent with; undefined for what is not text. */
function attachedFrom({ value, modelDescription }: ChatPromptReference): Attached | undefined {
  if (value instanceof Uri) return fileFrom(value);
  if (value instanceof Location) return fileFrom(value.uri, value.range);
  if (typeof value !== "string") return undefined;
  return {
    kind: "quote",
    title: (modelDescription ?? "From the chat").slice(0, 400),
    text: value.slice(0, maxQuoted),
  };
}

function fileFrom(uri: Uri, range?: Range): Attached | undefined {
  const path = pathOf(uri);
  if (path === undefined) return undefined;
  return {
    kind: "file",
    path,
    ...(range === undefined || range.isEmpty ? {} : { range: selectedLines(range.start, range.end) }),
  };
}
