import { isJsonObject } from "../base/json.ts";
import { parseDocument } from "./text/parse.ts";

/** Bounds on what stands in the context of every conversation. */
const maxNameCharacters = 64;
const maxDescriptionCharacters = 1024;

interface Skill {
  readonly name: string;
  readonly description: string;
  /** The text after the front matter. */
  readonly text: string;
}

/** Reads a SKILL.md. If it is not a skill, returns what is wrong, as the end of a sentence that begins with its path. */
export function readSkill(source: string): Skill | string {
  const matter = /^\uFEFF?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)/s.exec(source);
  if (matter === null)
    return 'has no front matter. Begin it with "---", name: and description:, and another "---".';
  const { value, diagnostics } = parseDocument(matter[1] ?? "", "yaml");
  const [fault] = diagnostics.filter(({ severity }) => severity === "error");
  if (fault !== undefined)
    return `has a front matter that is not YAML: line ${fault.range.start.line + 2}: ${fault.message}`;
  const field = (key: string): unknown => (isJsonObject(value) ? value[key] : undefined);
  const [name, description] = [field("name"), field("description")];
  if (typeof name !== "string" || !isLine(name, maxNameCharacters))
    return `has no name in its front matter. Add name: with at most ${maxNameCharacters} characters on one line.`;
  if (typeof description !== "string" || !isText(description, maxDescriptionCharacters))
    return `has no description in its front matter. Add description: with at most ${maxDescriptionCharacters} characters: when it is of use.`;
  return { name: name.trim(), description: description.trim(), text: source.slice(matter[0].length) };
}

const isText = (text: string, maxCharacters: number): boolean =>
  text.trim() !== "" && text.length <= maxCharacters;
const isLine = (text: string, maxCharacters: number): boolean =>
  isText(text, maxCharacters) && !/\p{Cc}/u.test(text);
