import { canonicalJson, isJsonObject } from "../base/json.ts";
import { visibleText } from "../base/visible-text.ts";
import { isWithinExactly } from "../policy/paths.ts";
import { behaviourChanges, type Behaviour } from "./behaviour.ts";
import { named } from "../base/named.ts";
import { actionsOf, commandsOf, typesOf, isMindAlone, mindFacts } from "./mind-words.ts";
import { modelWords } from "./model-words.ts";
import { isNamespaceCovered, type RequestedNamespace } from "./namespaces.ts";
import { permissionParts, workspaceParts, type WorkspacePart } from "./parts.ts";
import { cannotWords, partWords, workspaceWords, type PartWords } from "./part-words.ts";
import {
  has,
  isExtensionCovered,
  knownBehaviour,
  type AcceptedExtension,
  type AcceptedRequests,
  type RequestedExtension,
  type RequestedPermissions,
} from "./requested-permissions.ts";

type Change = "new" | "changed" | "unchanged";

interface QuestionPart extends PartWords {
  readonly id: string;
  readonly permission?: string;
  readonly change: Change;
  readonly granted: boolean;
  readonly answered: boolean;
}

interface QuestionFolder {
  readonly path: string;
  readonly title: string;
  readonly requested: boolean;
  readonly change: Change;
  readonly granted: boolean;
  readonly answered: boolean;
}

interface QuestionFact {
  readonly kind: "trigger" | "mind" | "tool" | "model" | "host" | "memory" | "file" | "setting";
  readonly text: string;
  readonly change: Change;
}

/** The question about one extension. The caller adds the program's files and the texts of the manifest. */
export interface QuestionCard {
  readonly extension: string;
  readonly name: string;
  readonly origin: string;
  readonly state: Change;
  readonly granted: boolean;
  readonly answered: boolean;
  readonly changes: readonly string[];
  readonly programChange: Change;
  readonly parts: readonly QuestionPart[];
  readonly folders: readonly QuestionFolder[];
  readonly facts: readonly QuestionFact[];
  readonly cannot: readonly string[];
}

export interface Answers {
  /** What the person granted last. */
  readonly granted: AcceptedRequests;
  /** What the person granted or withheld last. */
  readonly answered: AcceptedRequests;
  /** Extensions that the person withheld as a whole. */
  readonly declined: ReadonlySet<string>;
  /** The restraints that apply now. */
  readonly inForce: Pick<RequestedPermissions, "restraints">;
}

/** Returns everything that the documents request, in parts, each with the person's last answer. */
export function questionOf(
  requests: RequestedPermissions,
  answers: Answers,
): { readonly cards: QuestionCard[]; readonly workspace: QuestionPart[] } {
  return {
    cards: Object.entries(requests.extensions).map(([id, request]) => cardOf(id, request, requests, answers)),
    workspace: workspaceQuestion(requests, answers),
  };
}

function workspaceQuestion(
  requests: RequestedPermissions,
  { granted, answered, inForce }: Answers,
): QuestionPart[] {
  return workspaceParts(requests, inForce).map((part) => {
    const isAnswered = covers(answered, part);
    return {
      id: part.id,
      ...workspaceWords(part),
      change: isAnswered ? "unchanged" : "new",
      granted: covers(granted, part),
      answered: isAnswered,
    };
  });
}

/** True if `accepted` covers the part. */
function covers(accepted: AcceptedRequests, part: WorkspacePart): boolean {
  switch (part.kind) {
    case "rule":
      return has(accepted.allowRules, part.rule);
    case "threshold":
      return part.below <= accepted.autoApproveBelow;
    case "limit":
      return part.value <= (accepted.limits[part.name] ?? 0);
    case "setting":
      return has(accepted.settings, part.setting);
    case "hidden":
      return accepted.showsHidden;
    case "namespace":
      return isNamespaceCovered(part.namespace, accepted.namespaces);
    case "release":
      return !has(accepted.restraints, part.restraint);
  }
}

function cardOf(
  id: string,
  request: RequestedExtension,
  requests: RequestedPermissions,
  answers: Answers,
): QuestionCard {
  const granted = own(answers.granted.extensions, id);
  const before = own(answers.answered.extensions, id);
  const isAnswered =
    answers.declined.has(id) || (before !== undefined && isExtensionCovered(request, before));
  const state: Change = before === undefined ? "new" : isAnswered ? "unchanged" : "changed";
  const parts = partsOf(request, granted, before);
  const folders = foldersOf(request, granted, before);
  const programChange: Change =
    before === undefined ? "new" : before.program === request.program ? "unchanged" : "changed";
  return {
    extension: id,
    name: visibleText(request.name),
    origin: visibleText(request.origin),
    state,
    granted: granted !== undefined,
    answered: isAnswered,
    changes: state === "changed" && before !== undefined ? changesOf(request, before, parts, folders) : [],
    programChange,
    parts,
    folders,
    facts: factsOf(id, request, requests.namespaces, before),
    cannot: cannotWords(request.permissions, request.behaviour.hosts, requests.showsHidden),
  };
}

function partsOf(
  request: RequestedExtension,
  granted: AcceptedExtension | undefined,
  before: AcceptedExtension | undefined,
): QuestionPart[] {
  const known = keyed(before);
  const yes = keyed(granted);
  return permissionParts(request.permissions).map((part) => {
    const key = canonicalJson(part.permissions);
    const isAnswered = known.has(key);
    // A different item of the same list is a different part; a different detail of the same permission is a change of
    // it.
    const isOther = part.id === part.name && before?.permissions[part.name] !== undefined;
    return {
      id: part.id,
      ...partWords(part),
      permission: part.name,
      change: isAnswered ? "unchanged" : isOther ? "changed" : "new",
      granted: yes.has(key),
      answered: isAnswered,
    };
  });
}

const keyed = (extension: AcceptedExtension | undefined): ReadonlySet<string> =>
  new Set(permissionParts(extension?.permissions ?? {}).map(({ permissions }) => canonicalJson(permissions)));

function foldersOf(
  request: RequestedExtension,
  granted: AcceptedExtension | undefined,
  before: AcceptedExtension | undefined,
): QuestionFolder[] {
  const covers = (folders: readonly string[] | undefined, path: string): boolean =>
    folders?.some((folder) => isWithinExactly(folder, path)) === true;
  const folder = (path: string, requested: boolean): QuestionFolder => {
    const isAnswered = covers(before?.locations, path);
    return {
      path,
      title: folderTitle(path),
      requested,
      change: isAnswered ? "unchanged" : "new",
      granted: covers(granted?.locations, path),
      answered: isAnswered,
    };
  };
  const chosen = (granted?.locations ?? []).filter(
    (path) => !request.locations.includes(path) && covers(request.locations, path),
  );
  return [
    ...request.locations.map((path) => folder(path, true)),
    ...chosen.map((path) => folder(path, false)),
  ];
}

/** Returns a folder as shown to a person, with every foreign character visible. */
function folderTitle(path: string): string {
  return path === "." ? "The whole workspace" : visibleText(named(path));
}

function changesOf(
  request: RequestedExtension,
  before: AcceptedExtension,
  parts: readonly QuestionPart[],
  folders: readonly QuestionFolder[],
): string[] {
  const wanted = keyed(request);
  const gone = permissionParts(before.permissions).filter(
    ({ permissions }) => !wanted.has(canonicalJson(permissions)),
  );
  const behaviour = knownBehaviour(request, before);
  const files = request.carries.filter(
    ({ path }) => before.carries?.some((file) => file.path === path) !== true,
  );
  return [
    ...parts.filter(({ change }) => change === "new").map(({ title }) => `New: ${title}`),
    ...parts.filter(({ change }) => change === "changed").map(({ title }) => `Changed: ${title}`),
    ...folders.filter(({ change }) => change === "new").map(({ title }) => `New folder: ${title}`),
    ...gone
      .map(partWords)
      .filter(({ title }) => !parts.some((part) => part.title === title))
      .map(({ title }) => `No longer requested: ${title}`),
    ...before.locations
      .filter((path) => !request.locations.some((folder) => isWithinExactly(folder, path)))
      .map((path) => `No longer requested: the folder ${folderTitle(path)}`),
    ...(request.origin === before.origin
      ? []
      : [visibleText(`It now comes from another place: ${request.origin}; before: ${before.origin}`)]),
    ...(behaviour === null
      ? ["What it does has changed; it was not stored in full, so the difference cannot be shown."]
      : behaviourChanges(request.behaviour, behaviour).map((change) => visibleText(sentence(change)))),
    ...files.map(({ path, bytes }) =>
      visibleText(`New file inside its program: ${named(path)}, ${bytes} bytes`),
    ),
    ...(request.program === before.program
      ? []
      : [
          isMindAlone(request.behaviour)
            ? "Its identity, prompts or skills have changed."
            : "Its program has changed.",
        ]),
  ];
}

function factsOf(
  id: string,
  request: RequestedExtension,
  namespaces: readonly RequestedNamespace[],
  before: AcceptedExtension | undefined,
): QuestionFact[] {
  const { hooks, tools, models, hosts, settings } = request.behaviour;
  const known: Behaviour | null = before === undefined ? null : knownBehaviour(request, before);
  const since = (isKnown: boolean | undefined): Change =>
    before === undefined ? "new" : isKnown === true ? "unchanged" : "changed";
  const fact = (kind: QuestionFact["kind"], text: string, change: Change): QuestionFact => ({
    kind,
    text: visibleText(text),
    change,
  });
  const config = isJsonObject(settings["config"]) ? settings["config"] : {};
  const configBefore = isJsonObject(known?.settings["config"]) ? known.settings["config"] : {};
  return [
    ...hooks.map((hook) =>
      fact("trigger", triggerWords(hook), since(known !== null && has(known.hooks, hook))),
    ),
    ...mindFacts(settings["mind"]).map((words) =>
      fact("mind", words, since(mindFacts(known?.settings["mind"]).includes(words))),
    ),
    ...commandsOf(settings).map((command) =>
      fact(
        "trigger",
        `When you write /${text(command["name"])}: ${text(command["title"])}`,
        since(known !== null && has(commandsOf(known.settings), command)),
      ),
    ),
    ...tools.map((tool) =>
      fact(
        "tool",
        `${text(tool["name"])}: ${text(tool["description"], "no description")}`,
        since(known !== null && has(known.tools, tool)),
      ),
    ),
    ...actionsOf(settings).map((action) =>
      fact(
        "tool",
        `${text(action["name"])}: ${text(action["description"] || action["title"])}; proposes the change to you`,
        since(known !== null && has(actionsOf(known.settings), action)),
      ),
    ),
    ...typesOf(settings).map((type) =>
      fact(
        "memory",
        `${text(type["name"])}: values that other agents may be allowed to use`,
        since(known !== null && has(typesOf(known.settings), type)),
      ),
    ),
    ...models.map((model) =>
      fact("model", modelWords(model), since(known !== null && has(known.models, model))),
    ),
    ...hosts.map((host) => fact("host", named(host), since(known?.hosts.includes(host)))),
    ...namespaces
      .filter(({ extensions }) => extensions === null || extensions.includes(id))
      .map(({ name, writable }) =>
        fact("memory", `${named(name)}: ${writable ? "reads and writes" : "reads"}`, "unchanged"),
      ),
    ...request.carries.map(({ path, bytes }) =>
      fact(
        "file",
        `${named(path)}, ${bytes} bytes`,
        since(before?.carries?.some((file) => file.path === path)),
      ),
    ),
    ...Object.entries(config).map(([key, value]) =>
      fact(
        "setting",
        `${named(key)} = ${JSON.stringify(value)}`,
        since(
          key in configBefore && canonicalJson(configBefore[key] ?? null) === canonicalJson(value ?? null),
        ),
      ),
    ),
  ];
}

const events: Readonly<Record<string, string>> = {
  EntryCreated: "a file or folder appears",
  EntryModified: "a file changes",
  EntryMoved: "a file or folder is moved",
  EntryDeleted: "a file or folder is deleted",
  IndexComplete: "Lares has looked through the folders",
  TagAdded: "a file gets a tag",
  TagRemoved: "a file loses a tag",
  PermissionChanged: "you change what it may do",
  ActionEnded: "you decide about one of its proposals",
  UserInput: "you write to an agent",
  Context: "an agent's model is asked",
  BeforeToolCall: "an agent calls a tool",
  AfterToolCall: "a tool answers an agent",
  BeforeAction: "an agent proposes a change",
  BeforeCompact: "a conversation is summarised",
};

/**
 * Returns when a hook runs its handler: "When a file changes, if “entry.size > 0”". No filter can close the quotes.
 */
export function triggerWords({
  on,
  schedule,
  timezone,
  filter,
  prompt,
  activeHours,
  interceptOrder,
}: Behaviour["hooks"][number]): string {
  if (on === undefined) {
    const zone = timezone === undefined ? "" : `, ${text(timezone)}`;
    const hours = activeHours === undefined ? "" : `, only at ${text(activeHours)}`;
    const what = prompt === undefined ? "" : `, it starts a conversation with the text of ${text(prompt)}`;
    return `By the schedule ${JSON.stringify(schedule)}${zone}${hours}${what}`;
  }
  const event = typeof on === "string" && Object.hasOwn(events, on) ? events[on] : `${text(on)} is announced`;
  const source = typeof filter === "string" ? filter : text(filter);
  const before = interceptOrder === undefined ? "" : ", before it takes effect: it may refuse or change it";
  return `When ${event}${filter === undefined ? "" : `, if “${visibleText(source, "”")}”`}${before}`;
}

function text(value: unknown, otherwise = ""): string {
  if (value === undefined) return otherwise;
  return typeof value === "string" ? named(value) : JSON.stringify(value);
}

const sentence = (change: string): string => change.charAt(0).toUpperCase() + change.slice(1);

function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
