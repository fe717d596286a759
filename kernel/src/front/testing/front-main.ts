import { flushCompileCache } from "node:module";
import process from "node:process";
import { runFront } from "../front.ts";

/** Runs the front as `lares serve` does, with the toy kernel behind it. */
const pipe = process.argv.find((argument) => argument.startsWith("--pipe="))?.slice("--pipe=".length);
const clientProcessId = process.argv
  .find((argument) => argument.startsWith("--clientProcessId="))
  ?.split("=")[1];

process.exit(
  await runFront({
    version: "1.2.3",
    channel: pipe === undefined ? { kind: "stdio" } : { kind: "pipe", name: pipe },
    ...(clientProcessId !== undefined && { clientProcessId: Number(clientProcessId) }),
    program: {
      executable: process.execPath,
      arguments: [new URL("toy-kernel.ts", import.meta.url).pathname],
    },
    environment: process.env,
    answered: () => flushCompileCache(),
  }),
);
