import { canonicalJson } from "../base/json.ts";
import { neverAborted } from "../base/abort.ts";
import type { SentPart } from "../base/vocabulary/conversation-requests.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { NewEntry } from "../conversations/records.ts";
import { entryOf, type EntryMaker } from "./entries.ts";
import type { MindPorts } from "./ports.ts";

const readTool = "files/read";

/**
 * Reads the files that a message names, as its channel would, and returns the calls with their results: what a message meant
 * stays as it was when it was sent, whatever becomes of the files.
 */
export async function readAttachments(
  parts: readonly SentPart[],
  caller: ProcessPrincipal,
  maker: EntryMaker,
  { tools }: Pick<MindPorts, "tools">,
): Promise<NewEntry[]> {
  const files = [
    ...new Map(
      parts.flatMap((part) => (part.type === "file" ? [[canonicalJson(part), part] as const] : [])),
    ).values(),
  ];
  const read = await Promise.all(
    files.map(async ({ path, range }, index) => {
      const call = `call_${maker.turn.replaceAll("-", "")}_file${index}`;
      const args = {
        path,
        ...(range === undefined ? {} : { offset: range[0], length: range[1] - range[0] + 1 }),
      };
      const { result, origin, isTainted, sources } = await tools.call(caller, readTool, args, {
        key: call,
        signal: neverAborted,
        offered: [readTool],
        foreign: [],
      });
      return [
        entryOf(maker, { kind: "tool_call", call, tool: readTool, arguments: args }, { origin: "person" }),
        entryOf(
          maker,
          { kind: "tool_result", call, result },
          { origin, isTainted, ...(sources === undefined ? {} : { sources }) },
        ),
      ];
    }),
  );
  return read.flat();
}
