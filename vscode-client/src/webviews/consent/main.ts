import "./consent.css";
import { show } from "../shared/page.tsx";
import { consentContract } from "./messages.ts";
import { ConsentView } from "./view.tsx";

show(consentContract, ConsentView);
