import { choiceFor, toggleWorkspace, wholeChoice, type Choice } from "../../base/consent-choice.ts";
import { UsageError } from "../command.ts";
import { oneLine } from "../render/foreign.ts";
import type { TrustCard, TrustQuestion } from "../../base/vocabulary/trust.ts";

/** The form of a grant: `id`, `id=part,part`, `id@folder,folder` or both. */
const shape = /^(?<id>[^=@]+)(?:=(?<parts>[^@]*))?(?:@(?<folders>.*))?$/su;

/** The name that grants what the document itself requests: `--grant lares.yaml`. */
const document = "lares.yaml";

/**
 * Returns the parts of a question that `--grant` options name; everything else is withheld. Throws UsageError if an
 * option names something that was not requested.
 */
export function choiceOfGrants(question: TrustQuestion, grants: readonly string[]): Choice {
  const whole = wholeChoice(question);
  let choice: Choice = {
    extensions: new Map(),
    workspace: new Set(),
  };
  for (const grant of grants) {
    const { id = "", parts, folders } = shape.exec(grant)?.groups ?? {};
    if (id === document) {
      for (const part of question.workspace) choice = toggleWorkspace(choice, part.id);
      continue;
    }
    const card = question.extensions.find(({ extension }) => extension === id);
    if (card === undefined)
      throw new UsageError(
        `--grant ${oneLine(grant)}: nothing here is called "${oneLine(id)}". Extensions with requests: ${question.extensions.map(({ extension }) => oneLine(extension)).join(", ") || "none"}.`,
      );
    const all = choiceFor(whole, card);
    choice = {
      ...choice,
      extensions: new Map(choice.extensions).set(id, {
        isOn: true,
        parts: parts === undefined ? all.parts : partsNamed(card, listed(parts)),
        folders: folders === undefined ? all.folders : foldersNamed(card, listed(folders)),
      }),
    };
  }
  return choice;
}

const listed = (text: string): string[] => text.split(",").filter((each) => each !== "");

/** A permission's name stands for all of its parts. */
function partsNamed({ parts }: TrustCard, names: readonly string[]): Set<string> {
  return new Set(
    names.flatMap((name) => {
      const found = parts.filter(({ id, permission }) => id === name || permission === name);
      if (found.length === 0)
        throw new UsageError(
          `"${oneLine(name)}" is not requested. Requested: ${parts.map(({ id }) => oneLine(id)).join(", ") || "nothing"}.`,
        );
      return found.map(({ id }) => id);
    }),
  );
}

function foldersNamed({ folders }: TrustCard, names: readonly string[]): Set<string> {
  return new Set(
    names.map((name) => {
      const path = name.replace(/(?<!\/)\/+$/, "") || ".";
      const isInside = folders.some(
        ({ path: outer, requested }) =>
          requested && (outer === "." || path === outer || path.startsWith(`${outer}/`)),
      );
      if (!isInside)
        throw new UsageError(
          `The folder "${oneLine(name)}" is not inside a requested folder. Requested: ${folders.map(({ path: each }) => oneLine(each)).join(", ") || "none"}.`,
        );
      return path;
    }),
  );
}
