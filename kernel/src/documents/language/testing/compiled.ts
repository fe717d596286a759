import { transformFile } from "../../../sandbox/bundle/transform.ts";
import { Lines } from "../../text/diagnostics.ts";
import type { CompiledProgram } from "../program.ts";

/** Compiles a program as the composition root does. */
export async function compiledForTests(source: string): Promise<CompiledProgram> {
  const { code, origin } = await transformFile(source, "ts");
  const lines = new Lines(source);
  return {
    code,
    sourceOffset: (line, column) => {
      const at = origin(line, column);
      return at === null ? null : lines.offset({ line: at.line - 1, character: at.column });
    },
  };
}
