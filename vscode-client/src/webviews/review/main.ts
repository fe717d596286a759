import "./review.css";
import { show } from "../shared/page.tsx";
import { reviewContract } from "./messages.ts";
import { ReviewView } from "./view.tsx";

show(reviewContract, ReviewView);
