"""The job side. Nothing is analysed yet: `judges.FORMATS` says so for job logs."""
