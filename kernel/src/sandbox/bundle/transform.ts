import type { TransformFailure } from "esbuild";
import { compileWith } from "./compiler.ts";

/** One file as JavaScript, with the mapping back to its source. */
interface TransformedFile {
  readonly code: string;
  /** Maps a position of the code to the source: lines from 1, columns from 0 in UTF-16; null for generated code. */
  readonly origin: (line: number, column: number) => { line: number; column: number } | null;
}

/** Strips the types from one file; reads nothing else. Rejects if it has a syntax error, with line and column. */
export async function transformFile(source: string, loader: "ts" | "js"): Promise<TransformedFile> {
  // Loaded on first use, because it is large.
  const { originalPositionFor, TraceMap } = await import("@jridgewell/trace-mapping");
  const { code, map } = await compileWith(({ transform }) =>
    transform(source, {
      loader,
      format: "esm",
      target: "esnext",
      sourcemap: "external",
      sourcesContent: false,
      charset: "utf8",
      treeShaking: false,
      // Keeps the imports as the author wrote them, used or not.
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      logLevel: "silent",
    }),
  );
  const trace = new TraceMap(map);
  return {
    code,
    origin: (line, column) => {
      const found = originalPositionFor(trace, { line, column });
      return found.line === null ? null : { line: found.line, column: found.column };
    },
  };
}

/** Returns TypeScript without its types, or the first fault and its line, from 1. */
export async function stripTypes(
  source: string,
): Promise<{ readonly code: string } | { readonly fault: string; readonly line: number }> {
  try {
    return { code: (await transformFile(source, "ts")).code };
  } catch (error) {
    const { errors } = error as Partial<TransformFailure>;
    if (errors === undefined) throw error;
    return { fault: errors[0]?.text ?? "It cannot be read.", line: errors[0]?.location?.line ?? 1 };
  }
}
