import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

/** The agent whose jobs are shown. */
export const agent = "com.example.survey";

/**
 * A desk whose agent runs this program: its handler `saved` is called when a note is saved. Its documents are accepted.
 */
export async function openSurvey(program: string, settings: Record<string, unknown> = {}): Promise<Desk> {
  const desk = await Desk.open({
    settings,
    files: {
      "notes/walks.md": "along the river\n",
      "lares.yaml": `version: 1\nextensions:\n  - id: ${agent}\n`,
      ".lares/extensions/survey/agent.ts": program,
      ".lares/extensions/survey/extension.yaml": `
extension:
  id: ${agent}
  name: Survey
  version: 1.0.0
  permissions: { read_entries: true, dispatch_jobs: true }
  hooks:
    - { on: EntryModified, filter: entry.extension == "md", handler: saved }
`,
    },
  });
  await acceptDocuments(desk.vscode);
  return desk;
}
