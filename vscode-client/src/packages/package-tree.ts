import { label, message } from "../model/text.ts";
import type { Agent } from "../protocol.ts";
import type { TreeNode } from "../views/tree-node.ts";
import type { ListedPackage } from "./answers.ts";

/** Characters of a key's fingerprint that tell publishers apart in a list; its tooltip has all. */
const shortFingerprint = 8;
const maxNamedFiles = 5;

/** Returns the items of the view: one for each installed package. `updates`: newer versions that are known, by folder. */
export function packageNodes(
  packages: readonly ListedPackage[],
  agentOf: (id: string) => Agent | undefined,
  updates: ReadonlyMap<string, string>,
): TreeNode[] {
  return packages
    .toSorted(
      (one, other) => nameOf(one).localeCompare(nameOf(other)) || one.scope.localeCompare(other.scope),
    )
    .map((item) => packageNode(item, agentOf(item.id), updates.get(item.folder)));
}

/**
 * Returns the name of an extension for labels and sentences. `lares` has made each of its characters visible, so `label` would
 * mark the marks.
 */
export const nameOf = ({ name, id }: Pick<ListedPackage, "name" | "id">, maxLength = 128): string =>
  name === "" ? label(id, maxLength) : message(name, maxLength);

function packageNode(item: ListedPackage, agent: Agent | undefined, update: string | undefined): TreeNode {
  const { id, version, folder, fingerprint, scope } = item;
  const state = stateOf(item, agent);
  const faults = faultsOf(item);
  const name = nameOf(item);
  const hasUpdate = update !== undefined && update !== version;
  const said = [
    label(version, 40),
    ...(faults.length > 0 ? ["not as it was signed"] : []),
    ...(hasUpdate ? [`update to ${label(update, 40)}`] : []),
    state.words,
  ];
  return {
    id: `package ${folder}`,
    package: folder,
    ...(item.inUse ? { agent: id } : {}),
    label: name,
    description: said.join(" · "),
    icon: iconOf(faults.length > 0, hasUpdate, state.isOn),
    tooltip: [
      `${name} (${label(id)}) ${label(version, 60)}`,
      fingerprint === "" ? "The record of its publisher cannot be read" : `Signed by ${label(fingerprint)}`,
      originOf(item),
      label(folder, 4_096),
      ...faults,
    ],
    spoken: `Extension ${name}, version ${said.join(", ")}`,
    context: ["lares.package", state.kind, ...(hasUpdate ? ["update"] : [])].join("."),
    children: [
      ...faults.map((fault, index) => ({
        id: `package ${folder} fault ${index}`,
        package: folder,
        label: fault,
        icon: { id: "warning", color: "editorWarning.foreground" },
        tooltip: [fault],
        spoken: `Problem: ${fault}`,
      })),
      fact(
        folder,
        "publisher",
        "Signed by",
        "key",
        fingerprint === "" ? "unknown" : short(fingerprint),
        label(fingerprint),
      ),
      fact(folder, "origin", "From", "cloud-download", originOf(item), originOf(item)),
      fact(
        folder,
        "folder",
        scope === "workspace" ? "In this workspace" : "Your own",
        "folder",
        label(folder, 4_096),
        label(folder, 4_096),
      ),
    ],
  };
}

function fact(
  folder: string,
  key: string,
  title: string,
  icon: string,
  text: string,
  whole: string,
): TreeNode {
  return {
    id: `package ${folder} ${key}`,
    package: folder,
    label: title,
    description: text,
    icon: { id: icon },
    tooltip: [`${title}: ${whole}`],
    spoken: `${title}: ${text}`,
    context: "lares.packageFact",
  };
}

interface PackageState {
  readonly kind: "on" | "off" | "asks" | "unused";
  readonly words: string;
  readonly isOn: boolean;
}

function stateOf({ inUse }: ListedPackage, agent: Agent | undefined): PackageState {
  if (!inUse) return { kind: "unused", words: "not used in this workspace", isOn: false };
  if (agent === undefined) return { kind: "asks", words: "not loaded", isOn: false };
  if (agent.disabled === true) return { kind: "off", words: "disabled", isOn: false };
  if (agent.awaiting !== undefined) return { kind: "asks", words: "needs your permission", isOn: false };
  if (agent.state === "Error") return { kind: "on", words: "cannot run", isOn: false };
  return { kind: "on", words: "on", isOn: true };
}

function iconOf(isFaulty: boolean, hasUpdate: boolean, isOn: boolean): NonNullable<TreeNode["icon"]> {
  if (isFaulty) return { id: "warning", color: "editorWarning.foreground" };
  if (hasUpdate) return { id: "arrow-circle-up" };
  return isOn ? { id: "extensions" } : { id: "extensions", color: "disabledForeground" };
}

/** Without "SHA256:", which is the same for all. */
const short = (fingerprint: string): string =>
  `${label(fingerprint.replace(/^SHA256:/, "").slice(0, shortFingerprint))}…`;

function originOf({ index, source }: ListedPackage): string {
  if (index !== null) return `index ${message(index, 1_000)}`;
  return source === null ? "unknown: it was not installed by you" : message(source, 1_000);
}

function faultsOf({ fault, changed, missing, added }: ListedPackage): string[] {
  return [
    ...(fault === null ? [] : [message(fault, 400)]),
    ...files("Changed since it was installed", changed),
    ...files("Missing", missing),
    ...files("Not from the package", added),
  ];
}

function files(what: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const more = paths.length > maxNamedFiles ? ` and ${paths.length - maxNamedFiles} more` : "";
  return [
    `${what}: ${paths
      .slice(0, maxNamedFiles)
      .map((path) => label(path))
      .join(", ")}${more}`,
  ];
}
