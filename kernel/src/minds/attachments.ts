import { neverAborted } from "../base/abort.ts";
import { canonicalJson, isJsonObject } from "../base/json.ts";
import { pictureBounds } from "../base/pictures.ts";
import type { Part } from "../base/vocabulary/conversation.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { taintOf } from "../context/taint.ts";
import type { ConversationLog } from "../conversations/conversation-log.ts";
import type { NewEntry } from "../conversations/records.ts";
import { entryOf, type EntryMaker, type Provenance } from "./entries.ts";
import { commandOrigin, type Sender } from "./origins.ts";
import type { FilePicture, MindPorts } from "./ports.ts";
import { type NewPart, type StoredPicture, storePictures } from "./sent-parts.ts";

type FilePart = Extract<NewPart, { type: "file" }>;

const readTool = "files/read";

/** A message that is about to be written. Its pictures stay stored until it is disposed, and while its entry names them. */
interface WrittenMessage extends Disposable {
  readonly parts: readonly Part[];
  /** Its entry, behind the prompt of its command and followed by the calls that read its files, with their results. */
  readonly entries: readonly NewEntry[];
  readonly pictures: readonly StoredPicture[];
}

/**
 * Returns the entries of a message with its files, and stores its pictures. A picture from a file marks the message with
 * the sources of that file; other files do not. LimitExceeded if the conversation has no room for its pictures.
 */
export async function writtenMessage(
  sent: readonly NewPart[],
  { origin, prompt }: Sender,
  maker: EntryMaker,
  { ports, log, caller }: { ports: MindPorts; log: ConversationLog; caller: ProcessPrincipal },
): Promise<WrittenMessage> {
  const attached = await readAttachments(sent, caller, maker, ports);
  const { parts, pictures, [Symbol.dispose]: dispose } = await storePictures(attached.parts, log);
  const message = entryOf(
    maker,
    { kind: "message", role: "user", parts: [...parts] },
    { origin, ...attached.provenance },
    maker.turn,
  );
  const before =
    prompt === undefined
      ? []
      : [
          entryOf(
            maker,
            { kind: "message", role: "user", parts: [{ type: "text", text: prompt }] },
            { origin: commandOrigin(log.agent) },
          ),
        ];
  return { parts, pictures, entries: [...before, message, ...attached.entries], [Symbol.dispose]: dispose };
}

/** The files of a message as they were when it was sent. */
interface Attached {
  /** The message's parts, with a picture behind each file that is one. */
  readonly parts: readonly NewPart[];
  /** The sources of those pictures that were read from files. */
  readonly provenance: Omit<Provenance, "origin">;
  /** Calls with their results. */
  readonly entries: readonly NewEntry[];
}

/**
 * Reads the files that a message names, as its channel would: what a message meant stays as it was when it was sent,
 * whatever becomes of the files. A file that is a picture is shown as one, as far as the message has room for it.
 */
async function readAttachments(
  parts: readonly NewPart[],
  caller: ProcessPrincipal,
  maker: EntryMaker,
  { tools }: Pick<MindPorts, "tools">,
): Promise<Attached> {
  const files = new Map(
    parts.flatMap((part) => (part.type === "file" ? [[canonicalJson(part), part] as const] : [])),
  );
  const read = await Promise.all(
    [...files].map(async ([name, { path, range }], index) => {
      const call = `call_${maker.turn.replaceAll("-", "")}_file${index}`;
      const args = {
        path,
        ...(range === undefined ? {} : { offset: range[0], length: range[1] - range[0] + 1 }),
      };
      const outcome = await tools.call(caller, readTool, args, {
        key: call,
        signal: neverAborted,
        offered: [readTool],
        foreign: [],
      });
      // The path as the index spells it, because sources are found by it.
      const found = range === undefined ? pictureIn(outcome.result) : null;
      const picture = found === null ? null : await tools.picture(caller, found.path);
      return { name, call, args, outcome, picture };
    }),
  );
  const room = new Room(parts);
  const pictures = new Map<string, FilePicture>();
  const entries = read.flatMap(({ name, call, args, outcome, picture }) => {
    const { origin, isTainted, sources } = outcome;
    const isShown = picture !== null && room.takes(picture.bytes.length);
    if (isShown) pictures.set(name, picture);
    const result = picture === null ? outcome.result : noted(outcome.result, isShown);
    return [
      entryOf(maker, { kind: "tool_call", call, tool: readTool, arguments: args }, { origin: "person" }),
      entryOf(
        maker,
        { kind: "tool_result", call, result },
        { origin, isTainted, ...(sources === undefined ? {} : { sources }) },
      ),
    ];
  });
  const taint = taintOf(
    [...pictures.values()].map(({ isTainted, sources }) => ({
      ...(isTainted ? { tainted: true as const } : {}),
      ...(sources === undefined ? {} : { sources }),
    })),
  );
  return {
    parts: withPictures(parts, pictures),
    provenance: {
      isTainted: taint.tainted === true,
      ...(taint.sources === undefined ? {} : { sources: taint.sources }),
    },
    entries,
  };
}

/** The pictures that a message may still take, beside those that the person sent with it. */
class Room {
  #count: number = pictureBounds.perMessage;
  #bytes: number = pictureBounds.messageBytes;

  constructor(parts: readonly NewPart[]) {
    for (const part of parts) if (part.type === "image") this.takes(part.content.length);
  }

  takes(bytes: number): boolean {
    if (this.#count === 0 || bytes > this.#bytes) return false;
    this.#count--;
    this.#bytes -= bytes;
    return true;
  }
}

/** A file that is named twice is shown once. */
function withPictures(parts: readonly NewPart[], pictures: Map<string, FilePicture>): readonly NewPart[] {
  return parts.flatMap((part): NewPart[] => {
    if (part.type !== "file") return [part];
    const name = canonicalJson(part satisfies FilePart);
    const picture = pictures.get(name);
    if (picture === undefined) return [part];
    pictures.delete(name);
    return [part, { type: "image", media_type: picture.media_type, content: picture.bytes }];
  });
}

/** Returns the part of a result of `files/read` that is about a picture; null for any other result. */
function pictureIn(result: ToolResult): { readonly path: string; readonly note: string } | null {
  const value = result.status === "success" ? result.value : null;
  if (!isJsonObject(value) || !isJsonObject(value["picture"])) return null;
  const { path, note } = value;
  return typeof path === "string" && typeof note === "string" ? { path, note } : null;
}

function noted(result: ToolResult, isShown: boolean): ToolResult {
  const found = pictureIn(result);
  if (found === null || result.status !== "success" || !isJsonObject(result.value)) return result;
  const more = isShown
    ? "The message shows it."
    : "It is not shown, because the message has no room for more pictures.";
  return { ...result, value: { ...result.value, note: `${found.note} ${more}` } };
}
