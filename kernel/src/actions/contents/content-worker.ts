/** Entry file of the thread that reads, edits, compares and hashes contents for planning. */
import { openRootedFs } from "../../platform/files/rooted-fs.ts";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { serveWork } from "../../platform/children/work-requests.ts";
import type { ContentRequest, ContentWorkerData } from "../content-requests.ts";
import { ContentTasks } from "./content-tasks.ts";

// The requests come from openContentWork(), in exactly this shape.
serveWork((data) => {
  const { roots } = data as ContentWorkerData;
  let opening: Promise<ContentTasks> | null = null;
  const open = async (): Promise<ContentTasks> =>
    new ContentTasks(
      new WorkspaceFiles(
        await Promise.all(roots.map(async ({ name, path }) => ({ name, files: await openRootedFs(path) }))),
      ),
    );
  return async (request) => {
    // A workspace folder that is missing now may exist for the next request.
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    const answer = await (await opening).run(request as ContentRequest);
    const buffer = typeof answer === "object" && "made" in answer ? answer.made?.bytes.buffer : undefined;
    return { answer, transfer: buffer instanceof ArrayBuffer ? [buffer] : [] };
  };
});
