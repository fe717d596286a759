/** Entry file of the process that `deadline-helper.test.ts` runs. */
import process from "node:process";
import { serveRequests } from "../children/helper-requests.ts";

serveRequests((request) => {
  switch (request) {
    case "spin":
      for (;;);
    case "fill": {
      const kept: unknown[] = [];
      for (;;) kept.push(Array.from({ length: 1000 }, () => kept.length));
    }
    case "throw":
      throw new Error("It throws.");
    case "exit":
      return process.exit(3);
    default:
      return { request, pid: process.pid };
  }
});
