import "./activity.css";
import { show } from "../shared/page.tsx";
import { activityContract } from "./messages.ts";
import { ActivityView } from "./view.tsx";

show(activityContract, ActivityView);
