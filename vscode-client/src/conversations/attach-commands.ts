import { commands, Disposable, languages, Range, Uri, window, workspace, type Diagnostic } from "vscode";
import { actionArgument } from "../deciding/arguments.ts";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext } from "../feature.ts";
import { pathOf } from "../model/uris.ts";
import { label } from "../model/text.ts";
import type { Attached } from "../webviews/conversations/messages.ts";
import { maxQuoted, selectedLines } from "./attachments.ts";

const severities = ["Error", "Warning", "Information", "Hint"] as const;

/** Commands that add what a person looks at to a conversation's next message. */
export function contextCommands(
  context: ClientContext,
  attach: (attached: readonly Attached[]) => Promise<void>,
): Disposable {
  const register = (id: string, found: (given: unknown) => Promise<Attached[]>): Disposable =>
    commands.registerCommand(id, (given?: unknown) =>
      reporting("It cannot be added", async () => {
        const attached = await found(given);
        if (attached.length > 0) await attach(attached);
      }),
    );
  return Disposable.from(
    register("lares.addFileToConversation", async (given) => [fileOf(uriIn(given))]),
    register("lares.addSelectionToConversation", async () => [selection()]),
    register("lares.addProblemsToConversation", async () => problems()),
    register("lares.addProposalToConversation", (given) => proposal(context, given)),
  );
}

function uriIn(given: unknown): Uri {
  if (given instanceof Uri) return given;
  const open = window.activeTextEditor?.document.uri;
  if (open === undefined) throw new Error("No file is open.");
  return open;
}

function fileOf(uri: Uri, range?: [number, number]): Attached {
  const path = pathOf(uri);
  if (path === undefined) throw new Error("Only files of this workspace can be added.");
  return { kind: "file", path, ...(range === undefined ? {} : { range }) };
}

/** A saved file is named with its lines; any other text is quoted, because the agent could not read it. */
function selection(): Attached {
  const editor = window.activeTextEditor;
  if (editor === undefined || editor.selection.isEmpty) throw new Error("Select some text first.");
  const { document, selection: selected } = editor;
  const range = selectedLines(selected.start, selected.end);
  if (pathOf(document.uri) !== undefined && !document.isDirty) return fileOf(document.uri, range);
  const name = pathOf(document.uri) ?? label(document.fileName, 200);
  return {
    kind: "quote",
    title: `Lines ${range[0]}–${range[1]} of ${name}`.slice(0, 400),
    text: document.getText(selected).slice(0, maxQuoted),
  };
}

/** The problems at the cursor, else those of the file, with the file's lines. */
function problems(): Attached[] {
  const editor = window.activeTextEditor;
  if (editor === undefined) throw new Error("Open the file with the problem first.");
  const { uri } = editor.document;
  const all = languages.getDiagnostics(uri);
  const here = all.filter(({ range }) => range.intersection(editor.selection) !== undefined);
  const chosen = here.length > 0 ? here : all;
  if (chosen.length === 0) throw new Error("The editor reports no problem in this file.");
  const path = pathOf(uri);
  const name = path ?? workspace.asRelativePath(uri);
  const lines = new Range(
    chosen.reduce(
      (first, { range }) => (range.start.isBefore(first) ? range.start : first),
      chosen[0]!.range.start,
    ),
    chosen.reduce((last, { range }) => (range.end.isAfter(last) ? range.end : last), chosen[0]!.range.end),
  );
  return [
    {
      kind: "quote",
      title: `Problems in ${name}`.slice(0, 400),
      text: chosen.slice(0, 100).map(problemText).join("\n").slice(0, maxQuoted),
    },
    ...(path === undefined ? [] : [fileOf(uri, selectedLines(lines.start, lines.end))]),
  ];
}

function problemText({ range, severity, message: text, source }: Diagnostic): string {
  return `${severities[severity]} in line ${range.start.line + 1}${source === undefined ? "" : ` (${source})`}: ${text}`;
}

/** A proposal's title, reason and differences, as a quotation. */
async function proposal({ models }: ClientContext, given: unknown): Promise<Attached[]> {
  const id = actionArgument(given)?.id ?? models.actions.pending[0]?.id;
  if (id === undefined) throw new Error("No change waits for you.");
  const action = await models.actions.withDiffs(id);
  const text = [
    action.title,
    action.reason,
    ...action.effects.map(({ summary, diff }) => [summary, diff ?? ""].filter(Boolean).join("\n")),
  ]
    .filter(Boolean)
    .join("\n\n");
  return [
    { kind: "quote", title: `Proposal “${action.title}”`.slice(0, 400), text: text.slice(0, maxQuoted) },
  ];
}
