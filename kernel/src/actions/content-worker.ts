/** Entry file of the thread that reads, edits, compares and hashes contents for planning. */
import { openRootedFs } from "../platform/rooted-fs.ts";
import { WorkspaceFiles } from "../platform/workspace-files.ts";
import { serveWork } from "../platform/work-requests.ts";
import type { ContentRequest, ContentWorkerData } from "./content-requests.ts";
import { ContentTasks } from "./content-tasks.ts";

// Asked by openContentWork() in this very shape.
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
    // A root that is missing now may be there for the next request.
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    const answer = await (await opening).run(request as ContentRequest);
    const buffer = typeof answer === "object" && "made" in answer ? answer.made?.bytes.buffer : undefined;
    return { answer, transfer: buffer instanceof ArrayBuffer ? [buffer] : [] };
  };
});
