import { Type } from "typebox";
import { Status } from "../../base/vocabulary/status.ts";
import { define } from "../define.ts";

export const statusRequests = define({
  "lares/status": {
    about: "Returns the state of the kernel, of the workspace, and of this connection's trust.",
    errors: {},
    params: Type.Object({}),
    result: Status,
  },
});
