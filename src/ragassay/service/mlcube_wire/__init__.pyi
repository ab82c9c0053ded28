from .wire_errors import refused as refused
from .wire_routes import router as router
