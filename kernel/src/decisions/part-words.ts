import { kindMatches } from "../policy/permissions.ts";
import { visibleText } from "../base/visible-text.ts";
import type { Permissions } from "../base/vocabulary/permissions.ts";
import { modelUses } from "./describe-permission.ts";
import { describeNamespace } from "./namespaces.ts";
import { named } from "../base/named.ts";
import type { PermissionPart, WorkspacePart } from "./parts.ts";
import { describeRule, written } from "./requested-permissions.ts";

/** The text for a part as shown to a person; foreign text in it is quoted, with every character visible. */
export interface PartWords {
  readonly group: "see" | "change" | "other";
  readonly title: string;
  readonly detail?: string;
}

const shownFirst = "Each change is shown to you first, unless a rule allows it.";
const unasked = "Set without asking. Your files stay as they are.";

const kindWords: Readonly<Record<string, string>> = {
  "*": "Every kind of change to files and folders",
  "file.*": "Every change to files: writing, editing, moving and deleting them",
  "file.write": "Writing files",
  "file.edit": "Editing files",
  "file.move": "Moving and renaming files",
  "file.delete": "Deleting files",
  "folder.*": "Every change to folders",
  "folder.create": "Creating folders",
};

/** Returns a kind of change in words for a person; quotes a kind that the kernel does not know. */
const kindTitle = (kind: string): string => kindWords[kind] ?? `Changes of the kind ${quoted(kind)}`;

const words: {
  readonly [Name in keyof Permissions]-?: (detail: NonNullable<Permissions[Name]>) => PartWords;
} = {
  read_entries: (detail) => ({
    group: "see",
    title:
      typeof detail === "object" && detail.filter !== undefined
        ? `Files that match ${quoted(detail.filter)}: names and content`
        : "All files: names and content",
  }),
  hear_events: ([event = ""]) => ({
    group: "see",
    title: `What another agent announces, with everything in it: ${quoted(event)}`,
  }),
  propose_actions: ([kind = ""]) => ({ group: "change", title: kindTitle(kind), detail: shownFirst }),
  write_tags: () => ({ group: "change", title: "Tags on files", detail: unasked }),
  write_custom_fields: ({ namespace }) => ({
    group: "change",
    title: `Fields of files, in its namespace ${quoted(namespace)}`,
    detail: unasked,
  }),
  write_sidecars: ({ kinds }) => ({
    group: "change",
    title: `Data of its own beside files: ${list(kinds)}`,
    detail: unasked,
  }),
  use_models: (models) => ({
    group: "other",
    title: modelUses(models, { use: "Models", embed: "Turning texts into vectors" }).join(", "),
  }),
  use_credentials: ([name = ""]) => ({
    group: "other",
    title: `Your secret ${quoted(name)}, sent to the hosts that it is for`,
    detail: "The agent never sees it.",
  }),
  dispatch_jobs: () => ({ group: "other", title: "Longer work in the background" }),
  emit_events: ([event = ""]) => ({ group: "other", title: `Telling other agents: ${quoted(event)}` }),
  call_tools: ([tool = ""]) => ({
    group: "other",
    title: `Using the tool ${quoted(tool)} of another agent`,
    detail: "The other agent does only what it may do itself.",
  }),
  shared_data: ({ read = [], write = [] }) => ({
    group: "other",
    title: `Data shared with other agents: ${
      [
        ...(read.length > 0 ? [`reads ${list(read)}`] : []),
        ...(write.length > 0 ? [`writes ${list(write)}`] : []),
      ].join(", ") || "none"
    }`,
  }),
  shared_types: ({ read = [], write = [] }) => ({
    group: "other",
    title: `Values that other agents share: ${
      [
        ...(read.length > 0 ? [`reads ${list(read)}`] : []),
        ...(write.length > 0 ? [`changes ${list(write)}`] : []),
      ].join(", ") || "none"
    }`,
  }),
  see_agents: () => ({
    group: "other",
    title: "Seeing which agents there are and whether they work",
    detail: "It reads none of their texts.",
  }),
  intercept: ([agent = ""]) => ({
    group: "see",
    title: `What you say to another agent: reads and changes what you say to ${quoted(agent)}`,
    detail: "It can also refuse what that agent is about to do.",
  }),
};

/** Returns the words for a part of an extension's permissions. */
export function partWords({ name, permissions }: PermissionPart): PartWords {
  // A cast, because the compiler cannot infer that the name and the detail belong together.
  const say = words[name] as (detail: unknown) => PartWords;
  return visible(say(permissions[name]));
}

/** Returns the words for something that the document requests apart from its extensions. */
export function workspaceWords(part: WorkspacePart): PartWords {
  switch (part.kind) {
    case "rule":
      return visible({
        group: "change",
        title: `Allow without asking you: ${describeRule(part.rule)}`,
        detail: "Such a change is made at once. It can be undone.",
      });
    case "threshold":
      return {
        group: "change",
        title: `Allow every small change without asking you: those with an impact below ${part.below}`,
        detail: "Impact goes from 0 to 1. Such a change is made at once. It can be undone.",
      };
    case "limit":
      return visible({ group: "other", title: `Raise the limit ${named(part.name)} to ${part.value}` });
    case "setting": {
      const { path, value } = part.setting;
      const title = `Set ${path.map(written).join(".")} to ${JSON.stringify(value)}`;
      return visible({ group: "other", title });
    }
    case "hidden":
      return { group: "see", title: "Show hidden files and folders to agents" };
    case "namespace":
      return visible({ group: "other", title: sentenceCase(describeNamespace(part.namespace)) });
    case "release":
      return visible({
        group: part.restraint.kind === "ignore" ? "see" : "change",
        title:
          part.restraint.kind === "ignore"
            ? `No longer hide ${named(part.restraint.glob)} from agents`
            : part.restraint.kind === "untrusted"
              ? `No longer treat ${named(part.restraint.glob)} as written by others`
              : `No longer ${part.restraint.rule.decide === "deny" ? "forbid" : "ask you about"}: ${describeRule(part.restraint.rule)}`,
      });
  }
}

/**
 * Returns what an extension cannot do even if all of `permissions` are granted. No agent can reach the network, start
 * programs or decide on proposals, because the sandbox and the guest ABI offer no way to.
 */
export function cannotWords(
  permissions: Permissions,
  hosts: readonly string[],
  showsHidden: boolean,
): string[] {
  const kinds = permissions.propose_actions ?? [];
  const may = (kind: string): boolean => kinds.some((pattern) => kindMatches(pattern, kind));
  const reads = permissions.read_entries !== undefined && permissions.read_entries !== false;
  const writes = may("file.write") || may("file.edit");
  return [
    ...(reads ? [] : ["See or read any file"]),
    ...(writes ? [] : ["Change what is in a file"]),
    ...(may("file.delete") ? [] : ["Delete files"]),
    ...(may("file.move") ? [] : ["Move or rename files"]),
    ...(reads ? [showsHidden ? "See what is in .git" : "See hidden files or .git"] : []),
    "Approve changes, including its own",
    hosts.length === 0 ? "Reach the internet" : "Reach any other host on the internet",
    "Start programs",
  ];
}

function visible({ group, title, detail }: PartWords): PartWords {
  return { group, title: visibleText(title), ...(detail === undefined ? {} : { detail }) };
}

const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function list(names: readonly string[]): string {
  return names.map(quoted).join(", ");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
