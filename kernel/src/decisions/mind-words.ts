import { isJsonObject, type JsonObject } from "../base/json.ts";
import { named } from "../base/named.ts";

/**
 * Returns what a mind does as whole sentences for a person: that people can talk to it, and which tools it may use. Empty
 * if there is no mind. `mind` is as in the manifest's behaviour.
 */
export function mindFacts(mind: unknown): string[] {
  if (!isJsonObject(mind)) return [];
  const [tools, direct] = [names(mind["tools"]), names(mind["directTools"])];
  const workers = objects(mind["workers"]);
  const blocks = objects(mind["blocks"]).filter(({ isReadOnly }) => isReadOnly !== true);
  return [
    "You can talk to it. What you say, and what it reads for you, is sent to a language model.",
    tools.length === 0 ? "Its workers get no tools." : `Its workers may use these tools: ${tools.join(", ")}`,
    direct.length === 0
      ? "It uses no tools itself while it talks with you."
      : `It uses these tools itself while it talks with you: ${direct.join(", ")}`,
    ...(workers.length === 0
      ? []
      : [`It has these kinds of workers: ${workers.map(({ name }) => nameOf(name)).join(", ")}`]),
    ...(blocks.length === 0
      ? []
      : [`It keeps notes for later conversations: ${blocks.map(({ name }) => nameOf(name)).join(", ")}`]),
  ];
}

/** Returns what a mind does as the parts of a sentence that begins with the extension's name. */
export function mindPhrases(mind: unknown): string[] {
  if (!isJsonObject(mind)) return [];
  const [tools, direct] = [names(mind["tools"]), names(mind["directTools"])];
  return [
    "can be talked to, by a language model",
    tools.length === 0 ? "its workers get no tools" : `its workers may use the tools ${tools.join(", ")}`,
    ...(direct.length === 0 ? [] : [`it uses the tools ${direct.join(", ")} itself`]),
  ];
}

/** Returns the commands in a behaviour's settings. */
export function commandsOf(settings: JsonObject): JsonObject[] {
  return objects(settings["commands"]);
}

/** Returns the named actions in a behaviour's settings. */
export function actionsOf(settings: JsonObject): JsonObject[] {
  return objects(settings["actions"]);
}

/** Returns the types in a behaviour's settings. */
export function typesOf(settings: JsonObject): JsonObject[] {
  return objects(settings["types"]);
}

/** True if the extension has a mind and no program. */
export function isMindAlone({ settings }: { readonly settings: JsonObject }): boolean {
  return isJsonObject(settings["mind"]) && (settings["main"] ?? null) === null;
}

const objects = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? (value.filter(isJsonObject) as JsonObject[]) : [];
const nameOf = (value: unknown): string => (typeof value === "string" ? named(value) : JSON.stringify(value));
const names = (value: unknown): string[] => (Array.isArray(value) ? value.map(nameOf) : []);
