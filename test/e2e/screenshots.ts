/** `npm run screenshots`: takes the pictures that READMEs show from what the last `npm run test:e2e` kept. */
import { copyFileSync, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { artefacts } from "./support/browser.ts";

const shown = fileURLToPath(new URL("../../vscode-client/media/screenshots/", import.meta.url));
const maxBytes = 300_000;

/** Artefacts by the names of the pictures. */
const pictures = {
  "approval.png": "readme-approval.png",
  "changes.png": "readme-changes.png",
} as const;

mkdirSync(shown, { recursive: true });
for (const [name, artefact] of Object.entries(pictures)) {
  const path = join(artefacts, artefact);
  if (!existsSync(path)) {
    console.error(`${artefact} is not among the artefacts; run: npm run test:e2e`);
    process.exitCode = 1;
    continue;
  }
  const { size } = statSync(path);
  if (size > maxBytes) {
    console.error(`${artefact} has ${size} bytes; at most ${maxBytes} are kept in the repository.`);
    process.exitCode = 1;
    continue;
  }
  copyFileSync(path, join(shown, name));
  console.log(`${name}: ${size} bytes`);
}
