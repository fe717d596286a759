import {
  CodeLens,
  Disposable,
  EventEmitter,
  languages,
  Range,
  workspace,
  type CodeLensProvider,
  type Command,
} from "vscode";
import type { ClientContext } from "../feature.ts";
import { trustQuestion } from "../model/trust-question.ts";
import type { Action } from "../protocol.ts";

/** The path of the note that the starter creates for trying out agents. */
export const note = ["notes", "first-note.md"] as const;

/** A lens above the first note with the one next step, so that the note never promises what is not available. */
export function noteLens(context: ClientContext): Disposable {
  const { kernel, models } = context;
  const changed = new EventEmitter<void>();
  const tell = (): void => changed.fire();
  const provider: CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: () => {
      const command = nextStep(context);
      return command === undefined ? [] : [new CodeLens(new Range(0, 0, 0, 0), command)];
    },
  };
  return Disposable.from(
    changed,
    languages.registerCodeLensProvider({ scheme: "file", pattern: `**/${note.join("/")}` }, provider),
    kernel.onDidChangeState(tell),
    models.status.onDidChange(tell),
    models.actions.onDidChange(tell),
    models.agents.onDidChange(tell),
    workspace.onDidGrantWorkspaceTrust(tell),
  );
}

/** Returns the next step for the note; undefined if there is a proposal, which has its own lenses. */
export function nextStep({ kernel, models }: Pick<ClientContext, "kernel" | "models">): Command | undefined {
  if (!workspace.isTrusted)
    return { title: "Trust this folder in the editor to continue…", command: "lares.trustFolder" };
  if (kernel.state.kind === "running" || kernel.state.kind === "untrusted") {
    if (kernel.state.kind === "untrusted" || trustQuestion(models.status.current) !== null)
      return { title: "Choose what agents may do…", command: "lares.trustWorkspace" };
  } else {
    return { title: "Lares is not running yet", command: "lares.showStatus" };
  }
  if (models.actions.pending.some(isAboutNote)) return undefined;
  const [latest] = models.actions.recent.filter(isAboutNote);
  if (latest?.state === "Committed")
    return {
      title: "Undo what you approved",
      command: "lares.undo",
      arguments: [{ id: latest.id, digest: latest.digest }],
    };
  if (latest?.state === "Undone" || latest?.state === "Rejected")
    return { title: "Done. Activity shows what agents did", command: "lares.showActivity" };
  return models.agents.all.some(({ id }) => id === "dev.lares.notes")
    ? { title: "Notes reads this note…", command: "lares.agents.focus" }
    : { title: "No agent looks at this note. Get started…", command: "lares.openWalkthrough" };
}

function isAboutNote({ effects }: Action): boolean {
  return effects.some(({ path }) => path === note.join("/") || path.endsWith(`/${note.join("/")}`));
}
