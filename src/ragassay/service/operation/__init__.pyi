from .backup import back_up as back_up
from .retention import DAY_S as DAY_S, delete_old as delete_old
