import { isJsonObject } from "../base/json.ts";
import { closest, didYouMean } from "../base/suggest.ts";
import { placeholdersOf } from "../base/vocabulary/named-action.ts";
import { anotherName, write } from "./fixes/repairs.ts";
import { checkParameters, parametersOf } from "./parameter-checks.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";
import { nextTurn } from "./text/turns.ts";

/** Reports what is wrong with the actions that an extension names. Each is a tool too, and may be a command. */
export async function checkActions(
  { actions, tools, commands }: SoundExtension,
  document: ParsedDocument,
): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  const declared = present(actions);
  const toolNames = new Set(present(tools).map(([, { name }]) => name));
  const commandNames = new Set(present(commands).map(([, { name }]) => name));
  const taken = new Set([...toolNames, ...commandNames, ...declared.map(([, { name }]) => name)]);
  const seen = new Set<string>();
  for (const [index, { name, title, parameters }] of declared) {
    await nextTurn();
    const pointer = pointerTo("/extension/actions", index);
    const at = pointerTo(pointer, "name");
    const other = seen.has(name)
      ? "another action"
      : toolNames.has(name)
        ? "a tool"
        : commandNames.has(name)
          ? "a command"
          : null;
    if (other !== null) {
      const message = `The action "${name}" has the name of ${other} of this extension. Give one of them another name.`;
      const fixes = [write(document, at, anotherName(name, taken))];
      found.push(diagnostic("duplicate-action", document.locate(at), message, fixes));
    }
    seen.add(name);
    const properties = parameters?.["properties"];
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    const stray = placeholdersOf(title).find((each) => !names.includes(each));
    if (stray !== undefined) {
      const where = pointerTo(pointer, "title");
      const meant = closest(stray, names);
      const message = `The title of "${name}" has {${stray}}, which is none of its parameters${didYouMean(stray, names) || "."}`;
      found.push(
        diagnostic("invalid-action-title", document.locate(where), message, [
          meant === undefined ? null : write(document, where, title.replaceAll(`{${stray}}`, `{${meant}}`)),
        ]),
      );
    }
    if (parameters === undefined) continue;
    const place = { document, pointer: pointerTo(pointer, "parameters"), ...parametersOf(name) };
    found.push(...(await checkParameters(parameters, place)));
  }
  return found;
}
