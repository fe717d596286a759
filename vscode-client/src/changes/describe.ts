import { visibleText } from "../../../kernel/src/base/visible-text.ts";
import type { Effect } from "../protocol.ts";

/**
 * What an effect without two contents would do, as a text document. Names and values come from an agent: control
 * codes and what reorders text are shown by their codes.
 */
export function describeEffect(effect: Effect, stored?: string): string {
  const path = `    ${visibleText(effect.path)}`;
  switch (effect.kind) {
    case "folder.create":
      return document("Create the folder", path);
    case "file.move":
      return document(
        "Move",
        `    ${visibleText(effect.from ?? "")}`,
        "to",
        path,
        "Its content stays as it is.",
      );
    case "tag.add":
      return document(`Add the tag “${visibleText(effect.tag ?? "")}” to`, path);
    case "tag.remove":
      return document(`Take the tag “${visibleText(effect.tag ?? "")}” from`, path);
    case "field.set": {
      const field = visibleText(`${effect.namespace ?? ""}.${effect.key ?? ""}`);
      return effect.value === null
        ? document(`Remove the field ${field} of`, path)
        : document(`Set the field ${field} of`, path, "to", indented(stored ?? json(effect.value)));
    }
    case "sidecar.write":
      return document(
        `Write the sidecar “${visibleText(effect.sidecar ?? "")}” of`,
        path,
        "with",
        indented(stored ?? json(effect.value)),
      );
    case "file.write":
    case "file.edit":
    case "file.delete":
      return document(visibleText(effect.summary));
  }
}

function document(...parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}

function json(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${visibleText(line)}`)
    .join("\n");
}
