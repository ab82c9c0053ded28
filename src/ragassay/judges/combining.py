"""One answer from several: how the replies of a panel become one."""
