/** One file as JavaScript, and the way back to where it was written. */
export interface TransformedFile {
  readonly code: string;
  /** Line from 1 and column from 0, in UTF-16 units, of both; null where nothing was written. */
  readonly origin: (line: number, column: number) => { line: number; column: number } | null;
}

/** Takes the types from one file; nothing else is read. Rejects where it has a syntax error, with its line and column. */
export async function transformFile(source: string, loader: "ts" | "js"): Promise<TransformedFile> {
  // Loaded when somebody first asks for a program: neither is small.
  const { transform } = await import("esbuild");
  const { originalPositionFor, TraceMap } = await import("@jridgewell/trace-mapping");
  const { code, map } = await transform(source, {
    loader,
    format: "esm",
    target: "esnext",
    sourcemap: "external",
    sourcesContent: false,
    charset: "utf8",
    treeShaking: false,
    // What the file's author imports stays imported, whoever uses it.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    logLevel: "silent",
  });
  const trace = new TraceMap(map);
  return {
    code,
    origin: (line, column) => {
      const found = originalPositionFor(trace, { line, column });
      return found.line === null ? null : { line: found.line, column: found.column };
    },
  };
}
