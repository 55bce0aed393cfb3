"""Why a run is worse, and whether a suite would notice: on recorded answers, with few calls or none."""
