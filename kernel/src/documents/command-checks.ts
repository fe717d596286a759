import { anotherName, fix, withoutEntry, write } from "./fixes/repairs.ts";
import { insertEntry } from "./fixes/edits.ts";
import { checkParameters, parametersOf } from "./parameter-checks.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { pointerTo, valueAt, type ParsedDocument } from "./text/source.ts";
import { nextTurn } from "./text/turns.ts";

/** Reports commands that share a name, or that have not exactly one of handler and prompt. */
export async function checkCommands(
  { commands, mind }: SoundExtension,
  document: ParsedDocument,
): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  const all = present(commands);
  const taken = new Set(all.map(([, { name }]) => name));
  const seen = new Set<string>();
  const hasMind = mind !== undefined || valueAt(document.value, "/extension/mind") !== undefined;
  for (const [index, { name, parameters }] of all) {
    await nextTurn();
    const pointer = pointerTo("/extension/commands", index);
    const at = (key: string): string => pointerTo(pointer, key);
    const isWritten = (key: string): boolean => valueAt(document.value, at(key)) !== undefined;
    const wrong = (key: string, message: string): void =>
      void found.push(
        diagnostic("hook-binding", document.locate(at(key), "key"), message, [
          withoutEntry(document, at(key)),
        ]),
      );
    if (seen.has(name)) {
      const message = `There are two commands of the name "${name}". Give one of them another name.`;
      found.push(
        diagnostic("duplicate-command", document.locate(at("name")), message, [
          write(document, at("name"), anotherName(name, taken)),
        ]),
      );
    }
    seen.add(name);
    const [hasHandler, hasPrompt] = [isWritten("handler"), isWritten("prompt")];
    if (hasHandler && hasPrompt)
      wrong("prompt", "A command has either handler or prompt. Remove one of them.");
    else if (hasPrompt && !hasMind)
      wrong(
        "prompt",
        "prompt is sent to the extension's mind, and it has none. Add mind, or name a handler.",
      );
    else if (!hasHandler && !hasPrompt) {
      const message = `The command "${name}" needs handler, a function of the program, or prompt, a text file.`;
      found.push(
        diagnostic("missing-field", document.locate(at("name"), "key"), message, [
          fix('Add "handler"', [insertEntry(document, pointer, "handler", "myHandler")]),
        ]),
      );
    }
    if (parameters === undefined) continue;
    found.push(
      ...(await checkParameters(parameters, { document, pointer: at("parameters"), ...parametersOf(name) })),
    );
  }
  return found;
}
