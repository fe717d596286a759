import type { Actions } from "../actions/api.ts";
import type { Asks } from "../asks/asks.ts";
import { isLaresError } from "../base/errors.ts";
import type { Forgotten, RemainingText, TextPlace } from "../base/vocabulary/forgetting.ts";
import { textRemover } from "../base/without-texts.ts";
import type { ChatBindingRows } from "../conversations/chat-bindings.ts";
import { IndexRows } from "../conversations/index-rows.ts";
import { Forgetting } from "../forgetting/forgetting.ts";
import { inboxTexts } from "../inbox/migrations.ts";
import { jobTexts } from "../jobs/migrations.ts";
import { sharedDataTexts } from "../memory/shared-data.ts";
import type { MadeSchedules } from "../minds/made-schedules.ts";
import { notificationTexts } from "../notifications/migrations.ts";
import type { Database } from "../platform/database/database.ts";
import { redactColumns, tablesWith, type TextColumns } from "../platform/database/text-columns.ts";
import { joinPath, listFiles, readSmallFile, removeFile } from "../platform/files/data-files.ts";
import { filesWith } from "../platform/files/files-with.ts";
import type { WorkspaceFiles } from "../platform/files/workspace-files.ts";
import { agentStateTexts } from "../agent-state/migrations.ts";
import { sharedTypesTexts } from "../shared-types/migrations.ts";
import { redactKeyedCalls } from "../tools/keyed-calls.ts";
import type { TraceLog } from "../trace/trace-log.ts";
import { ledgerTexts } from "./ledger.ts";
import { shownFolder } from "./shown-files.ts";
import type { KernelContext } from "./subsystems/kernel-context.ts";
import type { Memories } from "./subsystems/memories.ts";
import { keyOf } from "../agent-minds/mind-tools.ts";
import { eachOnce, placeOfFile, placeOfTable } from "./text-places.ts";

interface ForgettingParts {
  readonly database: Database;
  readonly asks: Pick<Asks, "redact">;
  readonly actions: Pick<Actions, "redact">;
  readonly memories: Pick<Memories, "keyOf"> & {
    readonly memory: Pick<Memories["memory"], "exists" | "open">;
  };
  readonly schedules: Pick<MadeSchedules, "redact">;
  readonly traces: Pick<TraceLog, "redact">;
  readonly chats: Pick<ChatBindingRows, "pathsOf" | "forgetTexts">;
  readonly files: Pick<WorkspaceFiles, "readRange">;
}

/** Files of the state folder that are searched for what remains, and their bytes. */
const searched = { files: 200_000, bytes: 4 * 1024 ** 3 };
/** Files that show conversations, and bytes of each, that are searched. */
const maxChatFiles = 200;
const maxChatBytes = 4 * 1024 * 1024;
const pieceBytes = 1024 * 1024;
const maxShownBytes = 64 * 1024 * 1024;
const byPerson = "redacted by a person";

/** Opens what removes texts for a person from everywhere. */
export function openForgetting(
  { stateFolder, clock, log }: Pick<KernelContext, "stateFolder" | "clock" | "log">,
  parts: ForgettingParts,
): Forgetting {
  const { database, asks, actions, schedules, traces } = parts;
  const rows = (name: string, tables: readonly TextColumns[]): TextPlace => ({
    name,
    redact: async ({ texts }) => ({ removed: await redactColumns(database, tables, texts), remains: [] }),
  });
  const index = new IndexRows(database, clock);
  return new Forgetting({
    database,
    log,
    scrub: () => index.scrub(),
    places: [
      // What waits is ended first, so that nothing is written from it again.
      { name: "actions", redact: ({ texts }) => actions.redact(texts) },
      {
        name: "questions",
        redact: async ({ texts }) => ({ removed: await asks.redact(texts), remains: [] }),
      },
      { name: "schedules", redact: ({ texts }) => redactSchedules(schedules, texts) },
      { name: "memories", redact: (forgotten) => redactMemories(parts.memories, forgotten) },
      {
        name: "outcomes of calls",
        redact: async ({ texts, calls }) => {
          const keyed = calls.map(({ agent, conversation, call }) => ({
            caller: agent,
            key: keyOf({ conversation }, call),
          }));
          return { removed: await redactKeyedCalls(database, texts, keyed), remains: [] };
        },
      },
      rows("events", inboxTexts),
      rows("jobs", jobTexts),
      rows("notifications", notificationTexts),
      rows("shared values", [...sharedDataTexts, ...sharedTypesTexts]),
      rows("errors of schedules", agentStateTexts),
      { name: "traces", redact: async ({ texts }) => ({ removed: await traces.redact(texts), remains: [] }) },
      {
        name: "changes shown in editors",
        redact: ({ texts }) => removeShown(joinPath(stateFolder, shownFolder), texts),
      },
      { name: "digests of chat files", redact: (forgotten) => redactChatFiles(parts, forgotten) },
    ],
    search: async (texts, known) => await remaining(database, stateFolder, texts, known),
  });
}

async function redactSchedules(
  schedules: ForgettingParts["schedules"],
  texts: readonly string[],
): ReturnType<TextPlace["redact"]> {
  const { removed, accepted } = await schedules.redact(texts);
  return {
    removed,
    remains: accepted.map(({ id }) => ({
      place: "a schedule",
      name: id,
      why: "You accepted it as it reads, and it runs so. Have it removed if the text must go.",
    })),
  };
}

/** An editor that shows one keeps showing it until it is closed. */
async function removeShown(folder: string, texts: readonly string[]): ReturnType<TextPlace["redact"]> {
  const { holds } = textRemover(texts);
  let removed = 0;
  for (const name of await listFiles(folder)) {
    const path = joinPath(folder, name);
    const bytes = await readSmallFile(path, maxShownBytes);
    if (bytes === null || !holds(new TextDecoder().decode(bytes))) continue;
    await removeFile(path);
    removed++;
  }
  return { removed, remains: [] };
}

async function redactMemories(
  { memory, keyOf: memoryOf }: ForgettingParts["memories"],
  { texts, agent, conversations, memories }: Forgotten,
): ReturnType<TextPlace["redact"]> {
  const key = memoryOf(agent, undefined);
  if (!(await memory.exists(key))) return { removed: 0, remains: [] };
  const opened = await memory.open(key);
  let removed = conversations.length === 0 ? 0 : await opened.forgetTexts(texts, conversations, byPerson);
  for (const { id } of memories)
    try {
      await opened.forget(id, byPerson);
      removed++;
    } catch (error) {
      // It had one of the texts, or an earlier kernel has removed it.
      if (!isLaresError(error, "NotFound")) throw error;
    }
  return { removed, remains: [] };
}

/** The files are the person's own: they are named, and what the kernel knows of their texts is removed. */
async function redactChatFiles(
  { chats, files }: Pick<ForgettingParts, "chats" | "files">,
  { texts, conversations }: Forgotten,
): ReturnType<TextPlace["redact"]> {
  const paths = await chats.pathsOf(conversations);
  const { holds } = textRemover(texts);
  const remains: RemainingText[] = [];
  for (const path of paths.slice(0, maxChatFiles)) {
    const text = await readChat(files, path);
    if (text === null || !holds(text)) continue;
    remains.push({
      place: "a file of this folder",
      name: path,
      why: "It is yours and was not changed. Remove the text there yourself.",
    });
  }
  if (paths.length > maxChatFiles)
    remains.push({
      place: "files of this folder",
      name: "*.chat.md",
      why: `Only ${maxChatFiles} of the ${paths.length} files that show the conversation were searched.`,
    });
  return { removed: await chats.forgetTexts(paths), remains };
}

async function readChat(files: ForgettingParts["files"], path: string): Promise<string | null> {
  try {
    const pieces: Uint8Array[] = [];
    for (let offset = 0; offset < maxChatBytes; offset += pieceBytes) {
      const { bytes, eof } = await files.readRange(path, offset, pieceBytes);
      pieces.push(bytes);
      if (eof) break;
    }
    return Buffer.concat(pieces).toString("utf8");
  } catch (error) {
    // It is gone, or cannot be read: then it is not known to have the text.
    if (!isLaresError(error)) throw error;
    return null;
  }
}

async function remaining(
  database: Database,
  stateFolder: string,
  texts: readonly string[],
  known: readonly RemainingText[],
): Promise<readonly RemainingText[]> {
  const { forms } = textRemover(texts);
  if (forms.length === 0) return [];
  const isActionKnown = known.some(({ place }) => place === "an action");
  const isScheduleKnown = known.some(({ place }) => place === "a schedule");
  const found: RemainingText[] = [];
  for (const table of await tablesWith(database, ledgerTexts, texts))
    if (!(isActionKnown && table.startsWith("action")) && !(isScheduleKnown && table === "made_schedules"))
      found.push(placeOfTable(table));
  const { paths, isWhole } = await filesWith(stateFolder, forms, {
    ...searched,
    // They are searched above, or have no texts: vectors and locks.
    isSkipped: (path) => !path.includes("/") && /\.(?:sqlite(?:-wal|-shm)?|lock)$/.test(path),
  });
  for (const path of paths)
    if (!(isActionKnown && path.startsWith("objects/"))) found.push(placeOfFile(path));
  if (!isWhole)
    found.push({
      place: "the state folder",
      name: stateFolder,
      why: "It is so large that not all of its files were searched for copies.",
    });
  return eachOnce(found);
}
