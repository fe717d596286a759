import { cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { licencesOf } from "../../kernel/build/licences.ts";
import { installNested, packaging } from "../../kernel/build/nested-package.ts";

/** Where `package.json` names the grammar. */
export const grammarPath = "dist/grammars/toml.json";

/** The package that publishes the grammar, unchanged, from TextMate's own bundle for TOML. */
const grammarPackage = "tm-grammars";

/** The licence of https://github.com/textmate/toml.tmbundle, which its README states and the package does not bring. */
const grammarLicence = `textmate/toml.tmbundle (the grammar in dist/grammars/toml.json)

Permission to copy, use, modify, sell and distribute this software is granted. This software is provided "as is"
without express or implied warranty, and with no claim as to its suitability for any purpose.
`;

/**
 * Copies the grammar that gives TOML documents their colours where no other extension does. Returns the licences of the
 * package and of the grammar.
 */
export function copyTomlGrammar(client: string): readonly string[] {
  const grammar = installNested(packaging)(`${grammarPackage}/grammars/toml.json`);
  mkdirSync(join(client, "dist", "grammars"), { recursive: true });
  cpSync(grammar, join(client, grammarPath));
  return [licencesOf([grammarPackage], join(dirname(grammar), "..", "..")), grammarLicence];
}
