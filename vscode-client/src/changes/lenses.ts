import {
  CodeLens,
  Disposable,
  EventEmitter,
  languages,
  Range,
  workspace,
  type CodeLensProvider,
  type TextDocument,
} from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { label } from "../model/text.ts";
import { goneFrom, weightOf } from "../model/weight.ts";
import { uriOf } from "../model/uris.ts";
import type { Action } from "../protocol.ts";
import { maxActionsPerFile, proposedParts, type ProposedPart } from "./parts.ts";
import { touchedPaths } from "./marks.ts";

/**
 * Lenses above the first part of each proposal for a file: what it would do here, and the available decisions. A large
 * change, or one that also concerns other files, is approved here only for this file, and the lens says what else it
 * contains.
 */
class ApprovalLenses implements CodeLensProvider, Disposable {
  readonly #context: ClientContext;
  readonly #changed = new EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #listening: Disposable;

  constructor(context: ClientContext) {
    this.#context = context;
    const tell = (): void => this.#changed.fire();
    this.#listening = Disposable.from(
      context.models.actions.onDidChange(tell),
      workspace.onDidSaveTextDocument(tell),
      workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === "file") tell();
      }),
    );
  }

  async provideCodeLenses(document: TextDocument): Promise<CodeLens[]> {
    const { models } = this.#context;
    const here = waitingFor(models.actions.pending, document);
    if (here.length === 0) return [];
    const parts = await proposedParts(this.#context, document);
    return here.flatMap((action) => {
      const own = parts.filter((part) => part.action.id === action.id);
      const line = Math.min(own[0]?.start ?? 0, Math.max(0, document.lineCount - 1));
      const agent = label(models.agents.nameOf(action.agent), 40);
      return lensesOf(action, own, { agent, isDirty: document.isDirty, path: pathOf(action, document) }).map(
        (command) => new CodeLens(new Range(line, 0, line, 0), command),
      );
    });
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
  }
}

export const approvalLenses: Feature = (context) => {
  const lenses = new ApprovalLenses(context);
  return Disposable.from(languages.registerCodeLensProvider({ scheme: "file" }, lenses), lenses);
};

interface Here {
  readonly agent: string;
  readonly isDirty: boolean;
  readonly path: string | undefined;
}

/** Returns the commands of a lens; every word except the agent's name is fixed text. */
export function lensesOf(
  action: Action,
  parts: readonly Pick<ProposedPart, "effect" | "lines">[],
  { agent, isDirty, path }: Here,
): { title: string; command: string; arguments: unknown[] }[] {
  const { id, digest, effects } = action;
  const bound = { id, digest };
  const own = effects.findIndex((effect) => effect.path === path || effect.from === path);
  const does = own < 0 ? "" : wordsFor(action, own, parts);
  const review = { command: "lares.review", arguments: [{ id }] };
  if (isDirty) return [{ ...review, title: `${agent}: waits until this file is saved` }];
  if (
    parts.length === 0 &&
    ["file.write", "file.edit"].includes(effects[own]?.kind ?? "") &&
    effects[own]?.before !== null
  )
    return [{ ...review, title: `${agent}: its proposal is for an earlier version of this file` }];
  const others = effects.length - 1;
  const { deletes, moves } = goneFrom(effects.filter((_, index) => index !== own));
  const away = [
    ...(others > 0 ? [`${others.toLocaleString("en")} other ${others === 1 ? "change" : "changes"}`] : []),
    ...(deletes > 0 ? [`deletes ${deletes.toLocaleString("en")}`] : []),
    ...(moves > 0 ? [`moves ${moves.toLocaleString("en")}`] : []),
  ].join(", ");
  const heading = { ...review, title: `${agent}: ${does}${away === "" ? "" : ` (elsewhere ${away})`}` };
  const show = { title: "Show changes", command: "lares.showChanges", arguments: [{ id }] };
  const reject = { title: "Reject…", command: "lares.rejectWithReason", arguments: [bound] };
  const approve =
    others > 0
      ? {
          title: "Approve in this file only",
          command: "lares.approve",
          arguments: [{ ...bound, effects: [own] }],
        }
      : { title: "Approve", command: "lares.approve", arguments: [bound] };
  const edit = { title: "Edit", command: "lares.editProposal", arguments: [{ ...bound, effects: [own] }] };
  const isText = parts.length > 0;
  return weightOf(action).showsFirst
    ? [heading, show, approve, reject]
    : [heading, approve, reject, show, ...(isText ? [edit] : [])];
}

function wordsFor({ effects }: Action, own: number, parts: readonly Pick<ProposedPart, "lines">[]): string {
  const effect = effects[own];
  if (effect?.kind === "file.delete") return "deletes this file";
  if (effect?.kind === "file.move") return `moves this file to ${label(effect.path, 300)}`;
  let [added, removed] = [0, 0];
  for (const { lines } of parts)
    for (const line of lines.lines) {
      if (line.startsWith("+")) added += 1;
      else if (line.startsWith("-")) removed += 1;
    }
  if (added + removed === 0) return "changes the metadata of this file";
  const lines = (amount: number): string =>
    `${amount.toLocaleString("en")} ${amount === 1 ? "line" : "lines"}`;
  if (removed === 0) return `adds ${lines(added)}`;
  if (added === 0) return `removes ${lines(removed)}`;
  return `adds ${lines(added)}, removes ${removed.toLocaleString("en")}`;
}

function waitingFor(pending: readonly Action[], document: TextDocument): Action[] {
  return pending.filter((action) => pathOf(action, document) !== undefined).slice(0, maxActionsPerFile);
}

function pathOf(action: Action, { uri }: TextDocument): string | undefined {
  const key = uri.toString();
  return [...touchedPaths(action)].find((path) => uriOf(path)?.toString() === key);
}
