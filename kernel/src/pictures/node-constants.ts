/**
 * Runs first in every thread of the process that decodes pictures. The library's WebAssembly reads Node's file constants
 * by an old way, which Node refuses to a process with permissions.
 */
import { constants } from "node:fs";
import process from "node:process";

Object.defineProperty(process, "binding", { value: () => ({ fs: constants }) });
