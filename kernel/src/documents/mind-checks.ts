import { closest, didYouMean } from "../base/suggest.ts";
import { extensionIdPattern } from "../base/vocabulary/extension.ts";
import { fileTools, toolMatches } from "../base/vocabulary/file-tools.ts";
import { bulletinBlock } from "../base/vocabulary/mind.ts";
import { kindMatches } from "../policy/permissions.ts";
import { appendItem, insertEntry } from "./fixes/edits.ts";
import { anotherName, fix, withoutEntry, write } from "./fixes/repairs.ts";
import type { ManifestPorts } from "./ports.ts";
import { parseDuration } from "./schema/durations.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import { diagnostic, type Diagnostic, type Fix } from "./text/diagnostics.ts";
import { pointerTo, valueAt, type ParsedDocument } from "./text/source.ts";

/** The category of the models that minds talk with, as `use_models` names it. */
const chatCategory = "chat";

const workerName = /^[a-z][a-z0-9_-]{0,63}$/;
const shortestCortexMs = 60_000;
const longestCortexMs = 30 * 86_400_000;

/** Reports what is wrong with `mind` apart from its schema and its files. */
export async function checkMind(
  extension: SoundExtension,
  document: ParsedDocument,
  ports: ManifestPorts,
): Promise<Diagnostic[]> {
  const { mind } = extension;
  if (mind === undefined) return [];
  return [
    ...checkModel(extension, document),
    ...checkBlocks(mind, document),
    ...checkNamespaces(extension, document),
    ...checkNumbers(mind, document),
    ...(await checkTools(extension, mind, document, ports)),
  ];
}

type SoundMind = NonNullable<SoundExtension["mind"]>;

function checkModel({ permissions }: SoundExtension, document: ParsedDocument): Diagnostic[] {
  if (present(permissions?.use_models).some(([, { category }]) => category === chatCategory)) return [];
  const message =
    "The mind has no model to talk with. Under permissions, add use_models: [{ category: chat }].";
  const chat = { category: chatCategory };
  const list = "/extension/permissions/use_models";
  const edit =
    document.nodeAt(list) !== undefined
      ? appendItem(document, list, chat)
      : valueAt(document.value, "/extension/permissions") === undefined
        ? insertEntry(document, "/extension", "permissions", { use_models: [chat] })
        : insertEntry(document, "/extension/permissions", "use_models", [chat]);
  return [
    diagnostic("no-chat-model", document.locate("/extension/mind", "key"), message, [
      fix("Add { category: chat } to use_models", [edit], true),
    ]),
  ];
}

function checkBlocks({ blocks }: SoundMind, document: ParsedDocument): Diagnostic[] {
  const all = present(blocks);
  const taken = new Set([bulletinBlock, ...all.map(([, { name }]) => name)]);
  const seen = new Set<string>([bulletinBlock]);
  return all.flatMap(([index, { name }]) => {
    const isNew = !seen.has(name);
    seen.add(name);
    if (isNew) return [];
    const pointer = pointerTo("/extension/mind/blocks", index, "name");
    const message =
      name === bulletinBlock
        ? `Every mind has a block "${name}", which Lares writes. Give this one another name.`
        : `There are two blocks of the name "${name}". Give one of them another name.`;
    return [
      diagnostic("duplicate-block", document.locate(pointer), message, [
        write(document, pointer, anotherName(name, taken)),
      ]),
    ];
  });
}

/** Reports blocks that no shared memory can keep. Whether a memory is granted is said by lares.yaml. */
function checkNamespaces({ mind, agent }: SoundExtension, document: ParsedDocument): Diagnostic[] {
  return present(mind?.blocks).flatMap(([index, { namespace, scope }]) => {
    if (namespace === undefined) return [];
    const pointer = pointerTo("/extension/mind/blocks", index, "namespace");
    const found = (message: string): Diagnostic[] => [
      diagnostic("block-not-shared", document.locate(pointer), message, [withoutEntry(document, pointer)]),
    ];
    if (scope === "conversation")
      return found(
        "A block in a shared memory is one text for all, so no conversation can have its own. Leave out scope, or leave out namespace.",
      );
    if (agent?.enable_memory === false)
      return found(
        "A block in a shared memory needs enable_memory, which is false here. Leave out namespace: the mind keeps the block itself.",
      );
    return [];
  });
}

function checkNumbers({ compaction, cortex, workers }: SoundMind, document: ParsedDocument): Diagnostic[] {
  const found: Diagnostic[] = [];
  const { background = 0.8, aggressive = 0.85, emergency = 0.95 } = compaction ?? {};
  const shares = [
    ["background", background],
    ["aggressive", aggressive],
    ["emergency", emergency],
  ] as const;
  shares.forEach(([name, share], index) => {
    const [before, least] = shares[index - 1] ?? ["", 0];
    if (share > least) return;
    const written = [name, before].find(
      (key) => valueAt(document.value, `/extension/mind/compaction/${key}`) !== undefined,
    );
    const message = `${name} is ${share}, and ${before} before it is ${least}. The shares ascend: background, aggressive, emergency.`;
    found.push(
      diagnostic(
        "compaction-order",
        document.locate(`/extension/mind/compaction/${written ?? name}`),
        message,
      ),
    );
  });
  const every = cortex?.every === undefined ? null : parseDuration(cortex.every);
  if (every?.ok === true && (every.ms < shortestCortexMs || every.ms > longestCortexMs)) {
    const message = `every is "${cortex?.every}". Write a time from 1m to 30d.`;
    found.push(diagnostic("invalid-duration", document.locate("/extension/mind/cortex/every"), message));
  }
  for (const name of Object.keys(workers ?? {})) {
    if (workerName.test(name)) continue;
    const message = `"${name}" is not a name for a kind of workers. Use lower case letters, digits, "-" and "_", a letter first.`;
    found.push(
      diagnostic(
        "invalid-value",
        document.locate(pointerTo("/extension/mind/workers", name), "key"),
        message,
      ),
    );
  }
  return found;
}

async function checkTools(
  extension: SoundExtension,
  { tools, direct_tools: directTools, workers }: SoundMind,
  document: ParsedDocument,
  ports: ManifestPorts,
): Promise<Diagnostic[]> {
  const lists: [pointer: string, patterns: readonly string[] | undefined][] = [
    ["/extension/mind/tools", tools],
    ["/extension/mind/direct_tools", directTools],
    ...Object.entries(workers ?? {}).map(([name, worker]): [string, readonly string[] | undefined] => [
      pointerTo("/extension/mind/workers", name, "tools"),
      worker.tools,
    ]),
  ];
  const found: Diagnostic[] = [];
  const reported = new Set<string>();
  for (const [list, patterns] of lists) {
    for (const [index, pattern] of present(patterns)) {
      const pointer = pointerTo(list, index);
      const unknown = await unknownTool(extension, pattern, pointer, document, ports);
      found.push(...unknown);
      if (unknown.length > 0 || reported.has(pattern)) continue;
      reported.add(pattern);
      found.push(...checkPermission(extension, pattern, pointer, document));
    }
  }
  return found;
}

const otherTool = new RegExp(`${extensionIdPattern.slice(0, -1)}/(?:\\*|[A-Za-z][A-Za-z0-9_-]*)$`);

/** Reports a pattern that can match no tool. */
async function unknownTool(
  { id, tools }: SoundExtension,
  pattern: string,
  pointer: string,
  document: ParsedDocument,
  ports: ManifestPorts,
): Promise<Diagnostic[]> {
  const unknown = (message: string, meant?: string): Diagnostic[] => [
    diagnostic("unknown-tool", document.locate(pointer), message, [
      meant === undefined ? null : write(document, pointer, meant),
    ]),
  ];
  const owner = pattern.slice(0, pattern.indexOf("/"));
  if (owner === "files") {
    const names = fileTools.map(({ name }) => name);
    if (names.some((name) => toolMatches(pattern, name))) return [];
    const hint = didYouMean(pattern, names) || `; there are ${names.join(", ")}, and files/*.`;
    return unknown(`There is no tool "${pattern}"${hint}`, closest(pattern, names));
  }
  if (!otherTool.test(pattern))
    return unknown(
      `"${pattern}" names no tool. Write "extension.id/tool", "extension.id/*", or one of the kernel's own, such as "files/*".`,
      closest(pattern, ["files/*"]),
    );
  if (owner === id) {
    if (present(tools).some(([, { name }]) => toolMatches(pattern, `${owner}/${name}`))) return [];
    return unknown(`"${pattern}" matches none of this extension's own tools. Declare it under tools.`);
  }
  const ids = await ports.extensionIds?.();
  if (ids === undefined || ids.has(owner)) return [];
  const hint = didYouMean(owner, [...ids]) || ". Install it, or take the pattern out.";
  const meant = closest(owner, [...ids]);
  return unknown(
    `No extension "${owner}" is found here${hint}`,
    meant === undefined ? undefined : `${meant}${pattern.slice(owner.length)}`,
  );
}

/** Reports a tool that none of the extension's permissions lets it use. */
function checkPermission(
  { id, permissions = {} }: SoundExtension,
  pattern: string,
  pointer: string,
  document: ParsedDocument,
): Diagnostic[] {
  const lacking = (permission: string, line: string, edit: Fix | null): Diagnostic[] => [
    diagnostic(
      "tool-not-permitted",
      document.locate(pointer),
      `"${pattern}" needs the permission ${permission}, which the manifest does not ask for. Under permissions, add ${line}.`,
      [edit],
    ),
  ];
  const add = (name: string, value: unknown): Fix | null => {
    const list = pointerTo("/extension/permissions", name);
    const [item]: unknown[] = Array.isArray(value) ? value : [];
    return fix(`Add ${name}`, [
      document.nodeAt(list) !== undefined && item !== undefined
        ? appendItem(document, list, item)
        : valueAt(document.value, "/extension/permissions") === undefined
          ? insertEntry(document, "/extension", "permissions", { [name]: value })
          : insertEntry(document, "/extension/permissions", name, value),
    ]);
  };
  const reads = permissions.read_entries !== undefined && permissions.read_entries !== false;
  const kinds = present(permissions.propose_actions).map(([, kind]) => kind);
  const matching = fileTools.filter(({ name }) => toolMatches(pattern, name));
  const [first] = matching;
  if (first !== undefined) {
    const isPermitted = ({ proposes }: (typeof fileTools)[number]): boolean =>
      proposes === null ? reads : kinds.some((kind) => kindMatches(kind, proposes));
    if (matching.some(isPermitted)) return [];
    return first.proposes === null
      ? lacking("read_entries", "read_entries: true", add("read_entries", true))
      : lacking(
          "propose_actions",
          `propose_actions: [${first.proposes}]`,
          add("propose_actions", [first.proposes]),
        );
  }
  const owner = pattern.slice(0, pattern.indexOf("/"));
  if (owner === id) return [];
  const called = present(permissions.call_tools).map(([, tool]) => tool);
  if (called.some((tool) => tool === pattern || toolMatches(tool, pattern) || toolMatches(pattern, tool)))
    return [];
  return lacking("call_tools", `call_tools: ["${pattern}"]`, add("call_tools", [pattern]));
}
