"""The read side: records, lists, the feed of public events, the audit, retention."""
