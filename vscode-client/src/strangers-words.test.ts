import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { middleware } from "./editor/middleware.ts";
import { changePlaces } from "./testing/strangers/change-places.ts";
import { conversationPlaces } from "./testing/strangers/conversation-places.ts";
import {
  begin,
  drawn,
  drawnSoFar,
  expectHarmless,
  ownWords,
  type Places,
} from "./testing/strangers/drawing.ts";
import { viewPlaces } from "./testing/strangers/view-places.ts";
import { evil } from "./testing/strangers/words.ts";
import { Uri, files } from "./testing/vscode.ts";

beforeEach(begin);

/**
 * How each file of the client that gives the editor something to draw is made to do it with a stranger's words. A file
 * that has only words of its own says so; a new file has to be added to one of the tables.
 */
const places: Places = { ...changePlaces, ...conversationPlaces, ...viewPlaces };

const root = fileURLToPath(new URL(".", import.meta.url));
const surface =
  /show(?:Information|Warning|Error)Message|showQuickPick|createQuickPick|showInputBox|setStatusBarMessage|createStatusBarItem|withProgress\(|createOutputChannel|createWebviewPanel|createTreeView|show(?:Save|Open)Dialog|new (?:CodeLens|MarkdownString|FileDecoration|TreeItem)\(|plainMarkdown\(|"vscode\.(?:diff|changes|open)"/;

it("every file that gives the editor something to draw is tested here", () => {
  const found = globSync("**/*.ts", { cwd: root })
    .filter((file) => !/\.test\.ts$|^testing\/|^webviews\//.test(file))
    .filter((file) => surface.test(readFileSync(`${root}${file}`, "utf8")));
  expect(found.toSorted()).toEqual(Object.keys(places).toSorted());
});

it.each(Object.entries(places).filter(([, exercise]) => exercise !== ownWords))(
  "a stranger's text stays plain text when it is drawn by %s",
  async (file, exercise) => {
    drawn.length = 0;
    files.clear();
    if (exercise !== ownWords) await exercise();
    drawnSoFar();
    for (const { file: from, surface: where, text } of drawn) {
      // Markdown is checked by its own rules above: it is escaped, and has line breaks.
      if (where !== "markdown") expectHarmless(`${from} (${where})`, text);
    }
    // Results of pure functions have been checked above.
    const isPure = [
      "changes/gutter.ts",
      "conversations/chat-participant.ts",
      "editor/language-model-tools.ts",
      "status-bar/status-bar.ts",
    ].includes(file);
    const texts = drawn.filter(({ file: from }) => from === file).map(({ text }) => text);
    if (!isPure) expect(texts.length, `${file} drew nothing`).toBeGreaterThan(0);
  },
);

it("names of the kernel's symbols and lenses draw no icon", async () => {
  const symbol = { name: evil, detail: evil, children: [{ name: evil, detail: evil, children: [] }] };
  const document = { uri: Uri.file("/w/lares.yaml") } as never;
  const symbols = await middleware.provideDocumentSymbols?.(document, {} as never, () => [symbol] as never);
  expect(JSON.stringify(symbols)).not.toMatch(/\$\(|\]\(/);
});
