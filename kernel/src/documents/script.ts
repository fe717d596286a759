import { Script, type ScriptDocument } from "./schema/script.ts";
import { hasErrors, inOrder, type Diagnostic } from "./text/diagnostics.ts";
import { formatOf, parseInTurns } from "./text/parse.ts";
import { validate } from "./validate.ts";

/** Reads a file of scripted answers. Never throws because of the text; `value` is null if it has errors. */
export async function checkScript(
  text: string,
  file: string,
): Promise<{ readonly value: ScriptDocument | null; readonly diagnostics: readonly Diagnostic[] }> {
  const document = await parseInTurns(text, formatOf(file) ?? "yaml");
  if (hasErrors(document.diagnostics)) return { value: null, diagnostics: inOrder(document.diagnostics) };
  const { faults } = await validate(Script, document);
  const diagnostics = inOrder([...document.diagnostics, ...faults]);
  return { value: hasErrors(diagnostics) ? null : (document.value as ScriptDocument), diagnostics };
}
